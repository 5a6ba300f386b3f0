# Where a program that was sent may lie at a far end: folders that only this user writes to.

say() { echo "trunkline-far $*"; }

# Calls $1 with each `folder`, until it succeeds.
each() {
    user=$(id -u)
    for folder in "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/trunkline/far" \
        "${XDG_RUNTIME_DIR:-/nonexistent}/trunkline-far" "/var/tmp/trunkline-far-$user" \
        "/tmp/trunkline-far-$user" "/dev/shm/trunkline-far-$user"; do
        "$1" && return
    done
    return 1
}

# Neither a link, nor another user's, nor open for others to write.
is_own() {
    [ -d "$folder" ] && [ ! -h "$folder" ] && [ -O "$folder" ] || return 1
    case $(ls -ld "$folder") in d????-??-?*) ;; *) return 1 ;; esac
}
