/** The starts of a lab node's kubelet: what it was installed with, and what came of the last one. */
import type { RawObject } from '#base/raw-object.ts'

/** How its image set it up. What is in a file is not here. */
export interface InstalledKubelet {
  unit: string
  /** The program, and the flags in the unit's own command. */
  command: readonly string[]
  /** Files that give the unit more flags, in their order. */
  environment: readonly string[]
  /** `1.34.1` */
  version: string
  /** Its control group, as a line of /proc/PID/cgroup without the unit. */
  cgroup: string
  /** What `configz` shows where the files say nothing. */
  defaults: RawObject
}

/** What nodeadm makes the kubelet's files of. */
export interface NodeadmSources {
  /** What stands in the main file whatever the user wants. */
  main: RawObject
  /** The kubelet's flags; `--config-dir` is among them, and goes where nobody wants anything. */
  flags: readonly string[]
  /** `spec.kubelet.config` of the instance's user data. */
  userData: RawObject
}

/** How a change of a node goes wrong. All of it comes from the node itself: what a script asks for is done, or is not. */
export type ChangeFault =
  /** The kubelet, once started anew, exits whatever its files hold. */
  | { kind: 'never-up' }
  /** It exits with every configuration but the one that it ran with at first. */
  | { kind: 'only-old' }
  /** It is up with any other configuration, too, and then says that it is not healthy. */
  | { kind: 'sick' }
  /**
   * At the first swap of a file (or of settings) the agent is lost, and the script with it; `end`: the script ends, and only its answer is lost. No answer
   * of that command ever arrives. `backAfterMs` later SSM hears of the agent again; absent: never.
   */
  | { kind: 'agent-lost'; when: SwapMoment; backAfterMs?: number }
  /** At the first swap the instance is terminated. The source of nodes says who stands in its place. */
  | { kind: 'replaced'; when: SwapMoment }
  /** No room on the disk: seen by df from the start; not seen, and met by the first write; or from the kubelet's restart on. */
  | { kind: 'disk-full'; from: 'start' | 'write' | 'restart' }
  /** The node's clock is ahead by so much, or behind. */
  | { kind: 'clock-skew'; byMs: number }

export type SwapMoment = 'before-swap' | 'after-swap' | 'end'

/** The state of systemd and of the process after a start: the file `start.json`, beside the root folder. */
export interface KubeletStart {
  /** 1 was before the lab began. */
  number: number
  /** By the node's clock. */
  atMs: number
  isUp: boolean
  /** Up, and says so. */
  isHealthy: boolean
  /** Why it exited; null: it did not. */
  why: string | null
  /** Since when no kubelet has run, by the node's clock; null where it is up. */
  downSinceMs: number | null
  /** What `configz` shows; null where it is down. */
  configuration: RawObject | null
}

/** What the programs of a node find beside its root folder: the file `installed.json`. */
export interface Installed {
  kubelet: InstalledKubelet
  nodeadm: NodeadmSources | null
  fault: ChangeFault | null
  /** The node's clock is so far ahead of this machine's. */
  clockAheadMs: number
  /** Its files and processes: `root`, or `host` where the agent lives in a container and its root is not the host's. */
  host: 'root' | 'host'
}
