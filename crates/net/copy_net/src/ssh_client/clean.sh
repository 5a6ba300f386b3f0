# Removes the programs that were sent.

remove() {
    is_own && rm -rf "$folder" && say removed "$folder"
    case $folder in */trunkline/far) rmdir "${folder%/far}" 2>/dev/null ;; esac
    return 1
}

each remove
say done
