# What the scripts share that change something: their parameters, one change at a time on a node, what is kept for the way back, one answer at the end.
# `node.sh` and `text.sh` stand before it, and the script after it says how its own thing is done:
#   look       what is there now: its hash, or "absent", into $present; else fails with $why
#   able       whether a change could be made at all
#   unpack     what is wanted, from Content into the private folder, with the right hash
#   save       what is there, for the way back
#   write_new  all of the change that has no effect yet
#   place_new  the change itself, in one step
#   activate   what takes it up, and whether that is well
#   place_old, reactivate   the same back
#   tidy       removes what the way back does not need any more
# Each of them may be done twice: a run that was killed anywhere is taken up by the next command of the same run.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154

action='' id='' old='' new='' content=''
present='' why='' steps='' answered='' phase=''
kubelet='' active='' started_before='' started_after='' healthz=''
mine='' state=''
newline='
'

step() { steps=$steps${steps:+$newline}$1; }

# finish OUTCOME [REASON]: the answer, and the end. Exit code 0 only where all is as it was asked for: SSM counts the others as errors.
finish() {
  trap : HUP INT TERM
  answered=yes
  [ -z "$sees" ] || look || present=
  OUTCOME=$1 REASON=${2:-} ID=$id ACTION=$action INSTANCE=$instance OLD=$old NEW=$new PRESENT=$present STEPS=$steps \
    KUBELET=$kubelet ACTIVE=$active BEFORE=$started_before AFTER=$started_after HEALTHZ=$healthz awk "$lib"'
    function text(s) {
      if (s == "" || s == "?") return "null"
      gsub(/[^\001-\176]/, "?", s)
      return jstr(substr(s, 1, 600))
    }
    BEGIN {
      printf "{\"schema\":\"highwater.apply/1\",\"run\":%s,\"action\":%s,\"instanceId\":\"%s\"", text(ENVIRON["ID"]), text(ENVIRON["ACTION"]), ENVIRON["INSTANCE"]
      printf ",\"outcome\":\"%s\",\"reason\":%s", ENVIRON["OUTCOME"], text(ENVIRON["REASON"])
      printf ",\"oldSha256\":%s,\"newSha256\":%s,\"presentSha256\":%s", text(ENVIRON["OLD"]), text(ENVIRON["NEW"]), text(ENVIRON["PRESENT"])
      if (ENVIRON["KUBELET"] == "") printf ",\"kubelet\":null"
      else {
        printf ",\"kubelet\":{\"active\":%s", ENVIRON["ACTIVE"] == "" ? "null" : ENVIRON["ACTIVE"]
        printf ",\"startedAtBefore\":%s,\"startedAtAfter\":%s,\"healthz\":%s}", text(ENVIRON["BEFORE"]), text(ENVIRON["AFTER"]), text(ENVIRON["HEALTHZ"])
      }
      printf ",\"steps\":["
      n = split(ENVIRON["STEPS"], list, "\n")
      for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? "," : ""), text(list[i])
      print "]}"
    }'
  case $1,$action in
    ready,* | applied,* | unchanged,* | restored,rollback) exit 0 ;;
    broken,*) exit 5 ;;
    restored,*) exit 4 ;;
    *) exit 3 ;;
  esac
}
refuse() { finish refused "$1"; }

# bare OUTCOME REASON: the answer where nothing else can be made.
bare() {
  answered=yes
  printf '{"schema":"highwater.apply/1","run":null,"action":null,"instanceId":"%s","outcome":"%s","reason":"%s","oldSha256":null,"newSha256":null,"presentSha256":null,"kubelet":null,"steps":[]}\n' "$instance" "$1" "$2"
}

# ── parameters ──
# The agent hands them over as environment variables, so they are data. One that is too old does not know that and hands over none: a question
# mark stands for what was not handed over, and none may contain it.

# takes NAME VALUE SHORTEST LONGEST BAD: BAD is the pattern of a character that may not be there.
takes() {
  [ "$2" != '?' ] || refuse "the agent handed over no parameter $1: it is older than 3.3.2746.0"
  # shellcheck disable=SC2254
  case $2 in *$5*) refuse "the parameter $1 holds a character that it may not" ;; esac
  if [ "${#2}" -lt "$3" ] || [ "${#2}" -gt "$4" ]; then refuse "the parameter $1 has a wrong length"; fi
}
takes_common() {
  sees=
  for tool in awk base64 cat chmod chown date df head id ln mkdir mktemp mv rm sha256sum sleep stat sync timeout tr wc; do
    has "$tool" || { bare refused "the program $tool is not on this node"; exit 3; }
  done
  action=${SSM_Action-?} id=${SSM_Run-?} old=${SSM_OldSha256-?} new=${SSM_NewSha256-?} content=${SSM_Content-?}
  takes Action "$action" 5 8 '[!a-z]'
  case $action in check | apply | rollback) ;; *) refuse 'the parameter Action is none of check, apply, rollback' ;; esac
  takes Run "$id" 8 64 '[!a-z0-9-]'
  if [ "$old" != absent ]; then takes OldSha256 "$old" 64 64 '[!a-f0-9]'; fi
  takes NewSha256 "$new" 64 64 '[!a-f0-9]'
  takes Content "$content" 0 24000 '[!A-Za-z0-9+/=]'
  if [ "$old" = "$new" ]; then refuse 'the old hash and the new one are the same'; fi
}

# ── time ──
# A nap is two seconds. With another root folder it may be made shorter, and the clock then counts naps.
pace=
[ -z "$R" ] || pace=${HIGHWATER_PACE:-}
naps=0
clock=0
nap() { sleep "${pace:-2}"; naps=$((naps + 1)); }
tell_time() { if [ -z "$pace" ]; then clock=$(date +%s); else clock=$((naps * 2)); fi; }

# allow SECONDS: half of them for the way there, the rest for the way back.
allow() {
  tell_time
  half=$((clock + $1 / 2))
  whole=$((clock + $1))
  deadline=$half
}

# time_left MOST: the seconds until the deadline, and some in any case.
time_left() {
  tell_time
  seconds=$((deadline - clock))
  [ -z "$pace" ] || seconds=60
  [ "$seconds" -ge 10 ] || seconds=10
  [ "$seconds" -le "$1" ] || seconds=$1
}

# run SECONDS COMMAND…, with no input; its output into $W/out, and where it fails the reason into $why.
run() {
  seconds=$1
  shift
  has "$1" || { why="the program $1 is not on this node"; return 1; }
  # shellcheck disable=SC2086
  $limit "$seconds" "$@" </dev/null >"$W/out" 2>"$W/error"
  code=$?
  [ "$code" -ne 0 ] || return 0
  case $code in
    124 | 137) why="$1 did not end within $seconds seconds" ;;
    *) why="$1 failed with exit code $code: $(tr -c '\040-\176' ' ' <"$W/error" | awk '{ $0 = substr($0, 1, 200); sub(/ +$/, ""); print }')" ;;
  esac
  return 1
}

# flush PATH: onto the disk. An older sync knows no paths and does it for all.
flush() { run 30 sync "$1" || run 30 sync; }

hash_of() {
  sum=$(sha256sum 2>/dev/null <"$1") || { why="${1#"$R"} cannot be read"; return 1; }
  sum=${sum%% *}
  [ "${#sum}" -eq 64 ] || { why="${1#"$R"} cannot be read"; return 1; }
}

# decoded MOST: what Content holds, into $W/new. That may be packed by gzip, whose first three bytes are always these.
decoded() {
  printf '%s' "$content" | base64 -d >"$W/packed" 2>/dev/null || { why='the parameter Content is no base64'; return 1; }
  case $content in
    H4sI*)
      has gzip || { why='the program gzip is not on this node'; return 1; }
      # Not more than one byte too many, however much it would be.
      gzip -dc <"$W/packed" 2>/dev/null | head -c "$(($1 + 1))" >"$W/new"
      ;;
    *) cat "$W/packed" >"$W/new" ;;
  esac
  [ "$(wc -c <"$W/new")" -le "$1" ] || { why="the parameter Content holds more than $1 bytes"; return 1; }
}

has_room() {
  [ -w "$1" ] || { why="nothing can be written in ${1#"$R"}"; return 1; }
  run 10 df -P -k "$1" || return 1
  free=$(awk 'NR == 2 && $4 ~ /^[0-9]+$/ { print $4 }' "$W/out")
  [ "${free:-0}" -ge 1024 ] || { why="less than 1 MiB is free where ${1#"$R"} is"; return 1; }
}

# ── one at a time ──
ticks_of() { ticks=$(awk '{ sub(/^.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null) || ticks=; }
boot=
{ IFS= read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
boot=${boot%%-*}

# others: whether another change is under way. The file of each names a process by what no other can have after it, so one that died holds nothing up.
others() {
  for other in "$base"/lock.*; do
    if [ ! -e "$other" ] || [ "$other" = "$mine" ]; then continue; fi
    name=${other#"$base"/lock.}
    pid=${name#*.}
    pid=${pid%%.*}
    case $pid in '' | *[!0-9]*) continue ;; esac
    ticks_of "$pid"
    [ "$name" != "${boot:-none}.$pid.$ticks" ] || [ -z "$ticks" ] || return 0
    rm -f "$other"
  done
  return 1
}
# Each makes its own file and only then looks for others: of two, one at least sees the other.
lock() {
  ticks_of $$
  mine=$base/lock.${boot:-none}.$$.$ticks
  for again in 1 2 3; do
    : >"$mine" || { why="nothing can be written in ${base#"$R"}"; return 1; }
    others || return 0
    rm -f "$mine"
    waits=$(($$ % 2 + again))
    while [ "$waits" -gt 0 ]; do
      nap
      waits=$((waits - 1))
    done
  done
  why='another change is under way on this node'
  return 1
}

# ── what is kept on the node ──
base=$R/var/lib/highwater
mode_of() { mode=$(stat -c '%a %u' "$1" 2>/dev/null) || mode=; }
# own FOLDER: whether it is a folder, no link, owned by the user of this script, into which no other user can write.
own() {
  if [ -h "$1" ] || [ ! -d "$1" ]; then why="${1#"$R"} is no folder"; return 1; fi
  mode_of "$1"
  case $mode in
    *[2367]?" "* | *[2367]" "*) why="others may write into ${1#"$R"}"; return 1 ;;
    *" $(id -u)") ;;
    *) why="${1#"$R"} belongs to another"; return 1 ;;
  esac
}
open_base() {
  if [ ! -e "$base" ] && [ ! -h "$base" ]; then
    [ "$action" != check ] || return 0
    { mkdir -p "${base%/*}" && mkdir -m 700 "$base"; } 2>/dev/null || { why="${base#"$R"} cannot be made"; return 1; }
  fi
  own "$base"
}

# set_phase NAME: whole or not at all, whatever comes. Where a full disk lets no other file be written, over what is there: those few bytes have their
# room already, and the first line is what counts.
set_phase() {
  if printf '%s\n' "$1" 2>/dev/null >"$state/phase.new" && flush "$state/phase.new" && mv -f "$state/phase.new" "$state/phase" 2>/dev/null; then
    flush "$state" || :
    phase=$1
    return 0
  fi
  rm -f "$state/phase.new" 2>/dev/null
  if [ -f "$state/phase" ] && printf '%s\n' "$1" 2>/dev/null 1<>"$state/phase" && flush "$state/phase"; then
    phase=$1
    return 0
  fi
  why="nothing can be written in ${state#"$R"}"
  return 1
}
first_line() {
  line=
  { IFS= read -r line <"$1"; } 2>/dev/null
}
# open_run: what this run has done before, into $phase.
open_run() {
  state=$base/$id
  for other in "$base"/*/phase; do
    if [ ! -f "$other" ] || [ "$other" = "$state/phase" ]; then continue; fi
    first_line "$other"
    case $line in
      swapping | restarted | undoing | rolling | broken)
        other=${other%/phase}
        why="the run ${other##*/} was broken off half-way on this node (${line}): send that again first"
        return 1
        ;;
    esac
  done
  if [ ! -e "$state" ] && [ ! -h "$state" ]; then return 0; fi
  own "$state" || return 1
  [ "$action" = check ] || rm -f "$state/phase.new"
  [ -f "$state/phase" ] || return 0
  first_line "$state/phase"
  phase=$line
  first_line "$state/what"
  [ "$phase" = begun ] || [ "$line" = "$what" ] || { why='this run was another change before: its parameters are different now'; return 1; }
}

# ── the change ──
# change WHAT: all that the parameters say of it, in one line.
change() {
  what=$1
  private_folder || refuse 'no private folder could be made'
  trap ended EXIT
  trap told_to_end HUP INT TERM
  open_base || refuse "$why"
  if [ -d "$base" ]; then
    if [ "$action" = check ]; then
      ! others || refuse 'another change is under way on this node'
    else
      lock || refuse "$why"
    fi
    open_run || refuse "$why"
  fi
  fit || refuse "$why"
  sees=yes
  look || refuse "$why"
  case $action,$phase in
    rollback,*) rollback ;;
    *, | *,begun) fresh ;;
    check,swapping | check,restarted | check,undoing | check,rolling | check,broken) refuse "this run was broken off half-way ($phase): send apply or rollback again" ;;
    apply,swapping | apply,restarted)
      # Who had begun to take it back, and could not note that, had a reason: it is not done a second time.
      [ -e "$state/reason" ] || resume
      resumed=yes
      first_line "$state/reason"
      undo "${line:-taken back before}"
      ;;
    apply,undoing | apply,broken)
      resumed=yes
      first_line "$state/reason"
      undo "$line"
      ;;
    apply,rolling) rollback ;;
    *,applied)
      [ "$action" = check ] || tidy
      [ "$present" = "$new" ] || refuse 'what this run wrote is not there any more: another one wrote since'
      as_wanted
      ;;
    *,restored)
      [ "$action" = check ] || tidy
      first_line "$state/reason"
      [ "$action" = check ] || finish restored "this run was taken back before: $line"
      refuse "this run was taken back before: $line"
      ;;
    *)
      [ "$action" = check ] || tidy
      refuse 'this run was rolled back before'
      ;;
  esac
}
as_wanted() {
  observe
  finish unchanged "${1:-}"
}

fresh() {
  [ "$present" != "$new" ] || as_wanted 'this run changed nothing: it was there already'
  [ "$present" = "$old" ] || refuse 'what is there is not what the plan was made for'
  able || refuse "$why"
  unpack || refuse "$why"
  [ "$action" = apply ] || finish ready
  phase=begun
  rm -rf "$state"
  mkdir -m 700 "$state" 2>/dev/null || { why="${state#"$R"} cannot be made"; nothing; }
  set_phase begun || nothing
  printf '%s\n' "$what" 2>/dev/null >"$state/what" && flush "$state/what" || { why='what is to be done could not be noted'; nothing; }
  save || nothing
  step saved
  write_new || nothing
  step written
  set_phase swapping || nothing
  forward
}
# nothing: it was not begun, so nothing is left of it.
nothing() {
  trap : HUP INT TERM
  tidy
  rm -rf "$state"
  finish failed "nothing was changed: $why"
}

resume() {
  resumed=yes
  step "taken up again after $phase"
  if [ "$present" != "$new" ]; then
    [ "$present" = "$old" ] || refuse 'this run was broken off, and another one wrote since'
    unpack || refuse "$why"
    write_new || undo "$why"
  fi
  forward
}
forward() {
  if [ "$present" != "$new" ]; then
    place_new || undo "$why"
    present=$new
    step placed
  fi
  activate || undo "$why"
  set_phase applied || step 'that it is done could not be noted'
  tidy
  finish applied
}

# undo BECAUSE
undo() {
  trap : HUP INT TERM
  because=$1
  deadline=$whole
  # The way there came to nothing before anybody could notice it.
  look || finish broken "$because; and then $why"
  if [ "$phase,$present" = "swapping,$old" ] && [ -z "$begun" ] && [ ! -e "$state/reason" ]; then
    [ "$action" != rollback ] || never_done
    why=$because
    nothing
  fi
  printf '%s\n' "$because" 2>/dev/null >"$state/reason" || :
  set_phase undoing || :
  place_old || { set_phase broken || :; finish broken "$because; and what was there before could not be put back: $why"; }
  step 'put back'
  if reactivate; then
    set_phase restored || finish broken "$because. It is as it was before, and well, but that could not be noted: $why. Make room, and send rollback"
    tidy
    finish restored "$because${left:+. $left}"
  fi
  set_phase broken || :
  finish broken "$because; with what was there before it is not well either: $why"
}

# never_done: this run changed nothing here, and an apply of it that comes late will not either.
never_done() {
  tidy
  [ -d "$state" ] || mkdir -m 700 "$state" 2>/dev/null || finish failed "${state#"$R"} cannot be made"
  printf '%s\n' "$what" 2>/dev/null >"$state/what" || :
  set_phase rolled-back || finish failed "$why"
  finish unchanged 'this run changed nothing on this node'
}
rollback() {
  deadline=$whole
  case $phase in
    '' | begun)
      [ "$present" != "$new" ] || refuse 'what this run was to write is there, and nothing is kept of what was there before'
      never_done
      ;;
    swapping | restarted | undoing | broken)
      resumed=yes
      undo 'taken back as asked for'
      ;;
    restored | rolled-back)
      tidy
      as_wanted
      ;;
    applied)
      # Somebody may have put it back already, and what runs may be of before that: it goes the whole way all the same.
      [ "$present" = "$new" ] || [ "$present" = "$old" ] || refuse 'what this run wrote is not there any more: another one wrote since'
      set_phase rolling || finish failed "nothing was changed: $why"
      ;;
    rolling) ;;
    *) refuse 'what this run did before is not known' ;;
  esac
  trap : HUP INT TERM
  place_old || finish broken "what was there before could not be put back: $why"
  step 'put back'
  reactivate || finish broken "with what was there before it is not well: $why"
  set_phase rolled-back || finish broken "it is as it was before, and well, but that could not be noted: $why. Make room, and send rollback again"
  tidy
  finish restored "$left"
}

# begun: whether this process has begun to do what may be noticed.  resumed: whether another one may have.  disturbed: whether this one did more than
# write.  left: what could not be taken back.
begun='' resumed='' disturbed='' left='' sees=''
# undisturbed: whether nothing but files was ever touched.
undisturbed() { [ -z "$resumed$disturbed" ] && [ "$phase" != rolling ]; }

told_to_end() {
  trap : HUP INT TERM
  [ -z "$answered" ] || return 0
  case $phase in
    swapping | restarted) undo 'the script was told to end' ;;
    begun)
      why='the script was told to end'
      nothing
      ;;
    applied)
      if [ -n "$begun$resumed" ]; then
        tidy
        finish applied
      fi
      ;;
  esac
  finish failed 'the script was told to end before anything was changed'
}
ended() {
  code=$?
  [ -z "$mine" ] || rm -f "$mine"
  if [ -z "$answered" ]; then
    case $phase in
      swapping | restarted | undoing | rolling) bare broken "the script broke off half-way ($code): send it again" ;;
      *) bare failed "the script broke off ($code)" ;;
    esac
  fi
  [ -z "$W" ] || rm -rf "$W"
}
