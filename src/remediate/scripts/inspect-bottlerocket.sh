# Highwater-InspectBottlerocket: on Bottlerocket the agent lives in the control container, which sees the settings and no file of the host.
# Read-only. `answer.sh` stands before it.
# shellcheck shell=sh

# settings PART ROOT KEEP NAME: of what apiclient prints only what is named; its settings hold keys, certificates and credentials, too.
settings() {
  if ! ask api 8 apiclient get "$4"; then
    unread "$4" "$why"
    return
  fi
  if part "host.bottlerocket.$1" api "$2" "$3"; then return; fi
  # Unset settings are absent.
  if picks '' '' api >flat && [ "$(tr -d ' \n' <flat)" = '{}' ]; then
    case $1 in
      container*) printf '{}' >"part.host.bottlerocket.$1" ;;
      *) unread "$4" 'apiclient says that nothing is set there' ;;
    esac
    return
  fi
  unread "$4" 'what apiclient printed is no JSON of the form that is known'
}

kept=
for name in allowed-unsafe-sysctls cloud-provider cluster-dns-ip cluster-domain cluster-name container-log-max-files container-log-max-size \
  container-log-max-workers container-log-monitor-interval cpu-cfs-quota-enforced cpu-manager-policy cpu-manager-reconcile-period event-burst \
  event-qps eviction-hard eviction-max-pod-grace-period eviction-soft eviction-soft-grace-period hostname-override ids-per-pod \
  image-gc-high-threshold-percent image-gc-low-threshold-percent image-maximum-gc-age image-minimum-gc-age kube-api-burst kube-api-qps \
  kube-reserved log-level max-parallel-image-pulls max-pods memory-manager-policy memory-manager-reserved-memory node-ip pod-pids-limit \
  registry-burst registry-qps reserved-cpus seccomp-default server-tls-bootstrap shutdown-grace-period \
  shutdown-grace-period-for-critical-pods single-process-oom-kill standalone-mode system-reserved topology-manager-policy topology-manager-scope; do
  kept="$kept /settings/kubernetes/$name"
done
settings kubernetes /settings/kubernetes "$kept" settings.kubernetes
r=/settings/container-registry/mirrors
settings containerRegistry /settings/container-registry "$r/[]/registry $r/[]/endpoint $r/*" settings.container-registry
settings os /os '/os/arch /os/build_id /os/pretty_name /os/variant_id /os/version_id' os
: >list.host.bottlerocket.

node=
if [ -s part.host.bottlerocket.kubernetes ]; then
  node=$(awk 'match($0, /"hostname-override":"[^"\\]*"/) { print substr($0, RSTART + 21, RLENGTH - 22) }' part.host.bottlerocket.kubernetes)
fi
json_string "$node" >part.nodeName

# The container runs on the host's kernel.
line=
{ IFS= read -r line <"$R/proc/sys/kernel/osrelease"; } 2>/dev/null
if [ -n "$line" ]; then json_string "$line" >part.host.kernel.release; else unread kernel.release '/proc does not tell'; fi
line=
{ IFS= read -r line <"$R/proc/cmdline"; } 2>/dev/null
if [ -n "$line" ]; then LINE=$line awk "$lib"'BEGIN { printf "%s", jstr(kernel_words(substr(ENVIRON["LINE"], 1, 4000))) }' >part.host.kernel.cmdline; else unread kernel.cmdline '/proc does not tell'; fi
[ ! -e "$R/sys/fs/cgroup/cgroup.controllers" ] || printf 2 >part.host.kernel.cgroupVersion
: >list.host.kernel.

for what in 'kubelet files' filesystems runtime containerd logs podLogDirectories logLines kernel.memoryCgroups 'the running configuration'; do
  unread "$what" 'the control container sees no files and no processes of the host'
done

finish
