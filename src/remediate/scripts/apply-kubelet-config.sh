# Highwater-ApplyKubeletConfig: one file of the kubelet's configuration, the kubelet started anew, and the old file back where that is not well.
# A kubelet that refuses its configuration exits and systemd starts it every five seconds, while `systemctl restart` itself succeeds: so it is
# watched, and what counts is that one and the same process stays.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

calm_seconds=10
# A start, another one by systemd, and then it does not stay.
most_starts=3

accept() { :; }
permitted() { only_plannable "$1"; }

# ── the kubelet ──
find_unit() {
  unit=
  for candidate in kubelet.service snap.kubelet-eks.daemon.service; do
    run 10 systemctl show "$candidate" -p LoadState -p ActiveState || return 1
    loaded='' is=''
    while IFS='=' read -r key value; do
      case $key in LoadState) loaded=$value ;; ActiveState) is=$value ;; esac
    done <"$W/out"
    [ "$loaded" = loaded ] || continue
    if [ -z "$unit" ] || [ "$is" = active ]; then unit=$candidate; fi
  done
  [ -n "$unit" ] || { why='systemd knows no kubelet on this node'; return 1; }
}
# see: what systemd says of it now. $who stands for one and the same process, by its start: NRestarts is not known to every systemd.
see() {
  active=false who='' pid=0 is='' sub='' clocked=''
  run 10 systemctl show "$unit" -p ActiveState -p SubState -p MainPID -p ExecMainStartTimestampMonotonic || return 1
  while IFS='=' read -r key value; do
    case $key in
      ActiveState) is=$value ;;
      SubState) sub=$value ;;
      MainPID) pid=$value ;;
      ExecMainStartTimestampMonotonic) clocked=$value ;;
    esac
  done <"$W/out"
  who=$boot.$clocked
  [ "$is,$sub" != active,running ] || active=true
}
started_at() {
  ticks=100
  if has getconf; then ticks=$(getconf CLK_TCK 2>/dev/null) || ticks=100; fi
  started=$(awk -v ticks="${ticks:-100}" "$lib"'
    FNR == NR { if ($1 == "btime") since = $2; next }
    { sub(/^.*\) /, ""); if (since && $20 ~ /^[0-9]+$/) print iso(since + int($20 / ticks)) }' "$R/proc/stat" "$R/proc/$pid/stat" 2>/dev/null) || started=
}

flag() {
  value=$(tr '\000' '\n' 2>/dev/null <"$R/proc/$pid/cmdline" | FLAG=$1 awk '
    takes { print; exit }
    $0 == "--" ENVIRON["FLAG"] { takes = 1 }
    index($0, "--" ENVIRON["FLAG"] "=") == 1 { print substr($0, length(ENVIRON["FLAG"]) + 4); exit }')
}
# Where it answers: as its flags say, else its configuration; that may be JSON or YAML.
setting() {
  flag "$2"
  [ -z "$value" ] || return 0
  for path in /etc/kubernetes/kubelet/config.json /etc/kubernetes/kubelet/kubelet-config.json; do
    [ -f "$R$path" ] || continue
    value=$(FIELD=$1 awk '
      match($0, "\"?" ENVIRON["FIELD"] "\"?[ \t]*:[ \t]*\"?[0-9a-fA-F.:]+") {
        s = substr($0, RSTART, RLENGTH)
        sub(/^[^:]*:[ \t]*"?/, "", s)
        print s
        exit
      }' "$R$path" 2>/dev/null)
    [ -z "$value" ] || return 0
  done
}
find_healthz() {
  url=
  setting healthzPort healthz-port
  port=${value:-10248}
  setting healthzBindAddress healthz-bind-address
  address=${value:-127.0.0.1}
  case $port in
    0) healthz='not asked: it is switched off'; return ;;
    *[!0-9]*) port=10248 ;;
  esac
  case $address in
    0.0.0.0 | ::) address=127.0.0.1 ;;
    *:*) address="[$address]" ;;
  esac
  if ! has curl && ! has wget; then healthz='not asked: neither curl nor wget is on this node'; return; fi
  url=http://$address:$port/healthz
}
# ask_healthz: fails only where it answers that it is not well, or not at all.
ask_healthz() {
  [ -n "$url" ] || return 0
  if has curl; then run 5 curl -sS -f --max-time 3 --noproxy '*' "$url"; else run 5 env http_proxy= wget -q -T 3 -O - "$url"; fi || { healthz=$why; return 1; }
  first_line "$W/out"
  healthz=ok
  [ "$line" = ok ] || { healthz='another answer than ok'; return 1; }
}

observe() {
  kubelet=yes
  find_unit || return 1
  see || return 1
  find_healthz
  started_at
  [ -n "$started_before" ] || started_before=$started
  [ "$active" = true ] || { why='the kubelet is not active'; return 1; }
  ask_healthz || { why="the kubelet is not healthy: $healthz"; return 1; }
}

# restart: what it says of itself is not what counts.
restart() {
  run 10 systemctl reset-failed "$unit" || :
  disturbed=yes
  time_left 100
  run "$seconds" systemctl restart "$unit" || step "$why"
}
# well: whether another process than $not_this stays, and is healthy, before the deadline.
well() {
  calm='' last='' starts=0 answer='it did not start'
  while :; do
    if see; then
      if [ "$who" != "$last" ]; then
        last=$who
        calm=
        [ "$who" = "$not_this" ] || starts=$((starts + 1))
      fi
      if [ "$is" = failed ]; then
        answer='it failed and is not started again'
      elif [ "$active" != true ]; then
        answer="it is ${is:-unknown} (${sub:-unknown})"
      elif [ "$who" = "$not_this" ]; then
        answer='it was not started anew'
      elif [ "$starts" -ge "$most_starts" ]; then
        answer='it exits soon after each start'
      elif ! ask_healthz; then
        answer="it is not healthy: $healthz"
      else
        answer=
      fi
    else
      answer=$why
    fi
    tell_time
    if [ -n "$answer" ]; then calm=; else calm=${calm:-$clock}; fi
    if [ -n "$calm" ] && [ $((clock - calm)) -ge "$calm_seconds" ]; then
      started_at
      started_after=$started
      return 0
    fi
    if [ "$starts" -ge "$most_starts" ]; then why='the kubelet does not stay: it exits soon after each start'; break; fi
    if [ "$is" = failed ]; then why='the kubelet does not stay: it failed and is not started again'; break; fi
    if [ "$clock" -ge "$deadline" ]; then why="the kubelet is not well in time: ${answer:-it was not for long enough}"; break; fi
    nap
  done
  started_at
  started_after=$started
  return 1
}

# reads_it: whether the process that runs was started with what is written here. Only configz of the kubelet shows what it made of it.
reads_it() {
  case $method in
    kubelet-file)
      flag config
      [ "$value" = "$target" ] || { why="the kubelet was started with --config=${value:-(nothing)}, and does not read $target"; return 1; }
      ;;
    drop-in)
      flag config-dir
      [ "${value%/}" = "${target%/*}" ] || { why="the kubelet was started with --config-dir=${value:-(nothing)}, and does not read $target"; return 1; }
      ;;
  esac
}
# last_words: of a kubelet that does not stay, behind $why.
last_words() {
  has journalctl || return 0
  because=$why
  if run 10 journalctl -u "$unit" -n 40 -o cat --no-pager; then
    words=$(awk "$lib"'
      /^[EF][0-9][0-9][0-9][0-9] |[Ff]ailed|[Ee]rror|err=/ { said = $0 }
      END { sub(/^[EFIW][0-9]+ [0-9:.]+ +[0-9]+ [^]]*\] /, "", said); gsub(/[^\040-\176]/, " ", said); print cut(without_secrets(said), 200) }' "$W/out")
    because=$because${words:+". Its last words: $words"}
  fi
  why=$because
}

# ── nodeadm: it makes the kubelet's files of its sources, of which the folder is one ──
# Of these it writes some: kept with the piece itself, and back with it.
generated='/etc/kubernetes/kubelet/config.json /etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf /etc/kubernetes/kubelet/config.json.d/00-nodeadm.conf
/etc/eks/kubelet/environment /run/eks/nodeadm/config.json /etc/containerd/config.toml /etc/containerd/base-runtime-spec.json'

# find_sources: what the unit that runs at boot gives it, into $W/sources, one argument a line.
find_sources() {
  has nodeadm || { why='the program nodeadm is not on this node'; return 1; }
  run 10 systemctl show nodeadm-run.service -p ExecStart || return 1
  awk '
    !/^ExecStart=/ { next }
    {
      sub(/^.*argv\[\]=/, "")
      sub(/ ; .*$/, "")
      n = split($0, words, " ")
      for (i = 1; i < n; i++) {
        if (words[i] !~ /^--config-(source|cache)$/) continue
        if (words[i + 1] !~ /^[A-Za-z0-9_.:\/-]+$/) exit
        print words[i]
        print words[i + 1]
      }
      exit
    }' "$W/out" >"$W/sources"
  reads=
  while IFS= read -r word; do
    case $word in file://"${target%/*}" | file://"${target%/*}/") reads=yes ;; esac
  done <"$W/sources"
  [ -n "$reads" ] || { why="this node's nodeadm does not read ${target%/*}"; return 1; }
}
configure() {
  find_sources || return 1
  set -- init --skip run
  while IFS= read -r word; do set -- "$@" "$word"; done <"$W/sources"
  time_left 300
  run "$seconds" nodeadm "$@" || return 1
  step 'nodeadm has written'
  # Only the kubelet is started anew, so containerd's files stay as they were.
  number=0
  : >"$W/left"
  for path in "$target" $more; do
    if [ "$number" -gt 0 ]; then
      look_at "$path" || return 1
      wrote=$present
      kept_of "$number" || return 1
      case $path in
        /etc/containerd/*)
          if [ "$wrote" != "$was" ]; then
            put_back "$number" || return 1
            step "$back was put back: nodeadm had written it, too"
            wrote=$was
          fi
          ;;
      esac
      printf '%s %s\n' "$number" "$wrote" >>"$W/left"
    fi
    number=$((number + 1))
  done
  cat "$W/left" 2>/dev/null >"$state/left" && flush "$state/left" || { why="nothing can be written in ${state#"$R"}"; return 1; }
}
# taken_up: whether what nodeadm has written for the kubelet says what the piece says.
taken_up() {
  for path in "$target" /etc/kubernetes/kubelet/config.json /etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf /etc/kubernetes/kubelet/config.json.d/00-nodeadm.conf; do
    if [ -f "$R$path" ]; then
      printf '\n@%s\n' "$path"
      cat "$R$path"
    fi
  done 2>/dev/null >"$W/said"
  missing=$(PIECE=$target awk '
    /^@/ { of = substr($0, 2); next }
    {
      while (match($0, /"?[A-Za-z][A-Za-z0-9_.-]*"?[ \t]*:[ \t]*"?[^][",{} \t]+/)) {
        pair = substr($0, RSTART, RLENGTH)
        $0 = substr($0, RSTART + RLENGTH)
        gsub(/[" \t]/, "", pair)
        if (pair ~ /^(apiVersion|kind):/) continue
        if (of == ENVIRON["PIECE"]) wanted[pair] = 1
        else found[pair] = 1
      }
    }
    END { for (pair in wanted) if (!(pair in found)) { print pair; exit } }' "$W/said")
  [ -z "$missing" ] || { why="nodeadm has not taken up $missing"; return 1; }
}
# put_back_generated: byte for byte, unless a boot has made them anew since: then nodeadm makes them again of what is there now.
put_back_generated() {
  count=0
  since=
  if [ "$phase" = rolling ] && [ -f "$state/left" ]; then
    while read -r number wrote; do
      kept_of "$number" || return 1
      look_at "$whose" || return 1
      [ "$present" = "$wrote" ] || [ "$present" = "$was" ] || since=$whose
    done <"$state/left"
  fi
  if [ -n "$since" ]; then
    step "$since was made anew since"
    configure
    return
  fi
  for path in $more; do
    count=$((count + 1))
    put_back "$count" || { why="$path: $why"; return 1; }
  done
}

# ── the change ──
able() {
  observe || return 1
  not_this=$who
  reads_it || return 1
  [ "$method" != nodeadm ] || find_sources || return 1
  # What the rest of the file system says.
  able_file
}
save() {
  printf '%s\n%s\n%s\n' "$who" "$started_before" "$url" 2>/dev/null >"$state/before" && flush "$state/before" || { why="nothing can be written in ${state#"$R"}"; return 1; }
  save_files
}
# remembered: which process ran before all this, and where it answered; one that is down tells that no more.
remembered() {
  { IFS= read -r not_this; IFS= read -r started_before; IFS= read -r url; } 2>/dev/null <"$state/before" || { why='what ran before is not known'; return 1; }
  kubelet=yes
  [ -n "$url" ] || healthz=${healthz:-not asked}
  find_unit
}
activate() {
  remembered || return 1
  if [ "$phase" != restarted ]; then
    if [ "$method" = nodeadm ]; then
      configure || return 1
      taken_up || return 1
    fi
    see || :
    not_this=$who
    restart
    set_phase restarted || return 1
    step restarted
  fi
  well || { last_words; return 1; }
  reads_it || return 1
  step healthy
}
reactivate() {
  remembered || return 1
  [ "$method" != nodeadm ] || put_back_generated || return 1
  # As long as it was not started anew, it runs with what is there again.
  if undisturbed; then observe; return; fi
  see || :
  not_this=$who
  restart
  well || return 1
  step healthy
}

takes_common
method=${SSM_Method-?} target=${SSM_Path-?} seconds=${SSM_TimeoutSeconds-?}
takes Method "$method" 1 12 '[!a-z-]'
takes Path "$target" 1 100 '[!a-zA-Z0-9/._-]'
takes TimeoutSeconds "$seconds" 2 3 '[!0-9]'
[ "$seconds" -ge 60 ] || refuse 'the parameter TimeoutSeconds is less than 60: a way there and a way back do not fit in'
case "$method $target" in
  'kubelet-file /etc/kubernetes/kubelet/kubelet-config.json') ;;
  'kubelet-file /etc/kubernetes/kubelet/config.json') ;;
  'nodeadm /etc/eks/nodeadm.d/50-highwater.yaml') more=$generated ;;
  'drop-in /etc/kubernetes/kubelet/config.json.d/90-highwater.conf') ;;
  *) refuse 'the parameters Method and Path do not go together, or are not of the list' ;;
esac
allow "$seconds"
change "$method $target $old $new"
