# Waits until the test is done with a bed, or dead, and gives back what the bed took.
# A shell of its own, because a test that is killed cannot do it.
#
# Its input ends with the test. Before that it may say `keep`: then the folder stays.

folder=$1
keep=
while read -r word; do
    [ "$word" != keep ] || keep=yes
done

# Whether the process in a pid file is still the one that wrote it. What ended and was not waited
# for (Z) is gone.
runs() {
    read -r pid born <"$1" || return 1
    state=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d ' ' -f 1,20)
    [ "${state#* }" = "$born" ] && [ "${state% *}" != Z ]
}

end() {
    for file in "$@"; do
        ! runs "$file" || kill -KILL "$pid"
    done
    for file in "$@"; do
        while runs "$file"; do sleep 0.02; done
        rm -f "$file"
    done
}

for file in "$folder"/pids/*; do
    [ ! -f "$file" ] || end "$file"
done
[ -n "$keep" ] || rm -rf "$folder"
