/** What /proc tells of a process. Source: proc(5) */

/** @param startedSeconds after the machine */
export function processFiles(
  pid: number,
  cgroup: string,
  arguments_: readonly string[],
  startedSeconds: number,
): Record<string, string> {
  const name = (arguments_[0] ?? '').replace(/^.*\//, '')
  return {
    [`/proc/${pid}/comm`]: `${name}\n`,
    [`/proc/${pid}/status`]: `Name:\t${name}\nUid:\t0\t0\t0\t0\n`,
    [`/proc/${pid}/cgroup`]: `${cgroup}\n`,
    [`/proc/${pid}/cmdline`]: `${arguments_.join('\0')}\0`,
    // The clock of /proc ticks a hundred times a second.
    [`/proc/${pid}/stat`]: `${pid} (${name}) S 1 ${pid} ${pid} 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 15 0 ${Math.trunc(startedSeconds * 100)} 2000000 1 2\n`,
  }
}

const firstPid = 900

/** Of a kubelet's start, which are counted from 1. */
export const kubeletPid = (start: number) => firstPid - 1 + start

/** What systemd says of the kubelet's unit that changes with each start. @param sinceBootMs when the process was started */
export function unitState(start: number, isUp: boolean, sinceBootMs: number): string[] {
  return [
    `ActiveState=${isUp ? 'active' : 'activating'}`,
    `SubState=${isUp ? 'running' : 'auto-restart'}`,
    `MainPID=${isUp ? kubeletPid(start) : 0}`,
    `ExecMainStartTimestampMonotonic=${Math.trunc(sinceBootMs * 1000)}`,
  ]
}
