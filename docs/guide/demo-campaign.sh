#!/bin/sh
# A campaign between two servers of this machine, with a kill in its middle: `make demo-campaign`.
# Takes half a minute and 100 MB below target/demo-campaign; no root, no network. The guide
# docs/guide/campaigns.md explains each step.
set -eu

trunkline=${TRUNKLINE:-./target/release/trunkline}
folder=${FOLDER:-target/demo-campaign}
slac_port=5311 cern_port=5312 page=127.0.0.1:5313

say() { printf '\n== %s\n' "$*"; }
does() { printf '$ trunkline %s\n' "$*"; "$trunkline" "$@"; }
stop() { for pid in $running; do kill "$pid" 2>/dev/null || :; done; }

rm -rf "$folder"
mkdir -p "$folder/slac/raw" "$folder/cern"
export TRUNKLINE_STATE="$folder/state"
running=
trap stop EXIT

say "2,007 files in 20 folders, 60 MB, on the host that plays slac"
for run in $(seq 20); do
  mkdir "$folder/slac/raw/run$run"
  for event in $(seq 100); do
    echo "$run $event" > "$folder/slac/raw/run$run/event$event"
  done
done
for file in $(seq 7); do
  head -c 8500000 /dev/urandom > "$folder/slac/raw/run$file/hits.root"
done

say "A server at each of both. slac's token may have files sent to cern, and nowhere else"
for host in slac cern; do
  "$trunkline" serve --tokens "$folder/$host.tokens" --new-token me > "$folder/$host.token" 2>/dev/null
  chmod 600 "$folder/$host.token"
done
sed -i "s/\$/ to=127.0.0.1:$cern_port/" "$folder/slac.tokens"
serve() {
  "$trunkline" serve --files-only --bind 127.0.0.1 --port "$2" \
    --root "$folder/$1" --tokens "$folder/$1.tokens" >> "$folder/$1.log" 2>&1 &
  running="$running $!"
  tries=0
  until grep -qs "^serving" "$folder/$1.log"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat "$folder/$1.log"; exit 1; }
    sleep 0.1
  done
}
serve slac "$slac_port"
serve cern "$cern_port"

here=$(cd "$folder" && pwd)
cat > "$folder/july.toml" <<END
[shards]
files = 250

[hosts]
slac = { address = "trunkline://127.0.0.1:$slac_port", token = "$here/slac.token" }
cern = { address = "trunkline://127.0.0.1:$cern_port", token = "$here/cern.token" }

[links]
wan = { rate = "40Mbit/s", copies = 2 }

[groups]
raw = { from = "slac:/raw", to = "cern:/july", link = "wan" }
END

say "This machine plays a third host: it plans what slac's server lists"
does campaign plan "$folder/july.toml" "$folder/july"

"$trunkline" campaign status "$folder/july" --web "$page" 2>/dev/null &
running="$running $!"
say "It runs. Where it stands is at http://$page, too"
"$trunkline" campaign run "$folder/july" --quiet &
run=$!
sleep 7
does campaign status "$folder/july"

say "kill -9 of the run, in its middle: slac ends its copies, cern keeps what came"
kill -9 "$run"
wait "$run" 2>/dev/null || :
sleep 1
does campaign status "$folder/july"

say "The same command goes on"
does campaign run "$folder/july"

say "One file changes: the next plan has only this one"
echo more >> "$folder/slac/raw/run3/event7"
does campaign plan "$folder/july.toml" "$folder/july"
does campaign run "$folder/july"

say "Both servers read all files, and compare"
does campaign verify "$folder/july"
does campaign status "$folder/july"

say "All of it is in $folder: the plan, the shards, the logs of both servers"
