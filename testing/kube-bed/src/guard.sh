# Waits until the test is done with a bed, or dead, and gives back what the bed took.
# A shell of its own, because a test that is killed cannot do it.
#
# Its input ends with the test. Before that it may say `keep`: then the logs stay.

folder=$1
keep=
while read -r word; do
    [ "$word" != keep ] || keep=yes
done

# Whether the process in a pid file is still the one that wrote it. What ended and was not waited
# for (Z) is gone.
runs() {
    [ -f "$1" ] && read -r pid born <"$1" || return 1
    state=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d ' ' -f 1,20)
    [ "${state#* }" = "$born" ] && [ "${state% *}" != Z ]
}

end() {
    for daemon in "$@"; do
        ! runs "$folder/pids/$daemon" || kill -KILL "$pid"
    done
    for daemon in "$@"; do
        while runs "$folder/pids/$daemon"; do sleep 0.02; done
        rm -f "$folder/pids/$daemon"
    done
}

# Pods outlive the kubelet and containerd. They end through containerd, which knows them all.
end_pods() {
    end "kubelet-$number" "kube-proxy-$number" "calico-felix-$number"
    runs "$folder/pids/containerd-$number" || return 0
    containerd="ctr -a $folder/nodes/$number/containerd.sock -n k8s.io"
    for task in $($containerd task ls -q); do
        $containerd task rm -f "$task" >/dev/null 2>&1 &
    done
    wait
    for container in $($containerd container ls -q); do
        rm -f /var/lib/cni/results/*-"$container"-*
    done
    end "containerd-$number"
}

give_back_node() {
    number=${1##*/}
    name=kube-bed-$number
    end_pods
    ip netns del "$name" 2>/dev/null
    ip netns del "$name-out" 2>/dev/null
    ip link del "$name" 2>/dev/null
    for cgroup in /sys/fs/cgroup/"$name" /sys/fs/cgroup/*/"$name"; do
        [ ! -d "$cgroup" ] || find "$cgroup" -depth -type d -exec rmdir {} \;
    done
    [ ! -d /var/log/containers ] || find /var/log/containers -lname "$folder/*" -delete
    rm -f "$1"
    # The last node puts back what kubelets changed for the whole machine.
    if [ -f /run/kube-bed/sysctls ] && [ -z "$(find /run/kube-bed -type l)" ]; then
        while read -r file value; do echo "$value" >"$file"; done </run/kube-bed/sysctls
        rm -f /run/kube-bed/sysctls
    fi
}

for claim in /run/kube-bed/*; do
    [ "$(readlink "$claim")" != "$folder" ] || give_back_node "$claim"
done
end $(ls "$folder/pids")
# A mount that stayed is not to be emptied: one file system.
if [ -n "$keep" ]; then
    find "$folder" -mindepth 1 -maxdepth 1 ! -name log -exec rm -rf --one-file-system {} +
else
    rm -rf --one-file-system "$folder"
fi
