# Starts the program that has the SHA-256 `hash`; where it is not here, asks for its `size`
# bytes. `far` is what it is told.

mask=$(umask)
umask 077
# What is open as 3, by whatever name: the file that is hashed is the file that is started.
opened=/proc/$$/fd/3
why=

fail() {
    say failed "$*"
    exit 1
}

skip() {
    why="$why${why:+; }$folder $*"
    return 1
}

# Opens what is kept. Only this user may write to it, so that no other changes it once it is hashed.
open_kept() {
    [ -f "$folder/$hash" ] && [ -r "$folder/$hash" ] || return 1
    exec 3<"$folder/$hash"
    [ -O "$opened" ] || return 1
    case $(ls -lL "$opened") in -??x?-??-?*) ;; *) return 1 ;; esac
    sum=$(sha256sum <"$opened")
    [ "${sum%% *}" = "$hash" ]
}

start() {
    said=$("$opened" --version 2>&1) || skip "has it, and it does not start: $said" || return
    umask "$mask"
    say ready
    exec "$opened" $far
}

start_kept() { is_own && open_kept && start; }

# Whether the folder is fit for it. The room is taken before anything is sent.
is_fit() {
    mkdir -p "$folder" 2>/dev/null
    [ -e "$folder" ] || skip "cannot be made" || return
    is_own || skip "is not this user's alone" || return
    (echo '#!/bin/sh' >"$new" && chmod 700 "$new") 2>/dev/null || skip "takes no file" || return
    "$new" 2>/dev/null || skip "may not hold programs" || return
    (head -c "$size" /dev/zero >"$new") 2>/dev/null || skip "has no room for $size bytes"
}

receive() {
    new=$folder/new-$$
    is_fit || {
        rm -f "$new"
        return 1
    }
    how=raw
    unpack=cat
    if command -v gzip >/dev/null 2>&1; then how=gzip unpack='gzip -dc'; fi
    say send $how "$folder/$hash"
    read -r length || exit 1
    head -c "$length" | $unpack >"$new"
    mv -f "$new" "$folder/$hash"
    open_kept || {
        rm -f "$folder/$hash"
        fail "what arrived in $folder is not what was sent"
    }
    start || {
        rm -f "$folder/$hash"
        fail "$why"
    }
}

command -v sha256sum >/dev/null 2>&1 || fail "it has no sha256sum"
[ -d /proc/$$/fd ] || fail "it has no /proc"
each start_kept || each receive || fail "$why"
