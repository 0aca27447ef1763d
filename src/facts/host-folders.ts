/** Folders of a Linux host that belong to no single pod. */

/**
 * Folders of many owners. A pod that mounts one of them does not own the folders below.
 * Source: Filesystem Hierarchy Standard 3.0, sections 3.8, 3.11 to 3.13, 3.17 and 5.8
 */
export const sharedFolders: ReadonlySet<string> = new Set(
  '/ /var /var/lib /mnt /media /opt /srv /home'.split(' '),
)

/** Of `/a/b/c`: `/a` and `/a/b`. @param path without a slash at the end */
export const foldersAround = (path: string): string[] =>
  [...path.matchAll(/(?<!^)\//g)].map(({ index }) => path.slice(0, index))

/**
 * By the beginning of `osImage`: systems whose root is read-only by design, the folders that can be written, and those to offer to pods.
 * Sources: bottlerocket-os/bottlerocket-core-kit packages/release (mounts of /local); talos.dev Philosophy; cloud.google.com
 * Container-Optimized OS, Disks and file system
 */
const readOnlyRoots = [
  ['Bottlerocket', /^\/(?:local|mnt|opt|var|etc|run|tmp)(?:\/|$)/, '/local or /mnt'],
  ['Talos', /^\/(?:var|run|tmp)(?:\/|$)/, '/var'],
  [
    'Container-Optimized OS',
    /^\/(?:var|home|etc|run|tmp|mnt\/disks|mnt\/stateful_partition)(?:\/|$)/,
    '/var',
  ],
] as const

/** Where a pod can write instead. Null: this folder can be written, as long as its disk is in order. */
export function writableInstead(osImage: string, path: string): string | null {
  const [, writable, offered = null] =
    readOnlyRoots.find(([system]) => osImage.startsWith(system)) ?? []
  return !writable || writable.test(path) ? null : offered
}

/** Folders of containers: almost all in them is in volumes that images declare. Source: containerd internal/cri/server/container_create.go volumeMounts */
export const isImageVolume = (path: string): boolean => imageVolumes.test(path)

const imageVolumes =
  /\/io\.containerd\.grpc\.v1\.cri(?:\/containers(?:\/(?<container>[^/]+)(?:\/volumes)?)?)?$/

/** Id of the container whose volumes are there. */
export const containerOfVolumes = (path: string): string | null =>
  imageVolumes.exec(path)?.groups?.container ?? null

/**
 * The datastore of a cluster, but for the snapshots of k3s and RKE2, which are backups.
 * Source: docs.k3s.io Cluster Datastore; docs.k0sproject.io Backup; canonical/microk8s#2167
 */
export const isDatastore = (path: string): boolean =>
  /^\/var\/(?:lib\/etcd|lib\/rancher\/(?:k3s|rke2)\/server\/db|lib\/k0s\/(?:etcd|db)|snap\/microk8s\/[^/]+\/var\/kubernetes\/backend)(?!\/snapshots)(?:\/|$)/.test(
    path,
  )

/** Where provisioners keep local PersistentVolumes by default. Sources: rancher/local-path-provisioner deploy, docs.k3s.io/storage, openebs/dynamic-localpv-provisioner */
export const isLocalVolumeRoot = (path: string): boolean =>
  /^\/(?:opt\/local-path-provisioner|var\/lib\/rancher\/(?:k3s|rke2)\/storage|var\/openebs\/local)(?:\/|$)/.test(
    path,
  )

/** Folders of the runtime and the kubelet: containers may need what lies there. */
export const isOfRuntime = (path: string): boolean =>
  /^\/var\/lib\/(?:containerd|kubelet)(?:-[\w-]+)?(?:\/|$)/.test(path)

/** Where a package manager keeps all programs of the node: its own commands alone delete there. Sources: nixos.org Nix store; guix.gnu.org The Store; ostree(1) */
export const isPackageStore = (path: string): boolean =>
  /^\/(?:nix|gnu|(?:sysroot\/)?ostree)(?:\/|$)/.test(path)

/** Folders with the programs of the operating system: nothing in them is deleted by hand. Source: hier(7) */
export const isOfSystem = (path: string): boolean =>
  isPackageStore(path) || /^\/(?:usr|boot|bin|sbin|lib(?:32|64|x32)?)(?:\/|$)/.test(path)

/** The claim that local-path-provisioner writes into the name of its folder. Null: the folder has another name. Source: rancher/local-path-provisioner provisioner.go folderName */
export function claimOfFolder(path: string): string | null {
  const [, namespace, name] =
    /\/pvc-[0-9a-f-]{36}_([a-z0-9-]+)_([a-z0-9.-]+)(?:\/|$)/.exec(path) ?? []
  return namespace === undefined ? null : `${namespace}/${name}`
}

/** A pod that mounts one folder of it does not own the others. */
export const logFolder = '/var/log'

/** Images of agents that read the logs in that folder, and write there only how far they have read. Source: the DaemonSets of their Helm charts */
export const isLogAgent = (image: string): boolean =>
  /(?:^|[/_-])(?:alloy|datadog-agent|filebeat|fluent-?bit|fluentd|grafana-agent|logstash|opentelemetry-collector(?:-contrib)?|promtail|vector)(?:[-:@]|$)/.test(
    image,
  )

/**
 * Files and folders of `/var/log` that programs of the host write.
 * Source: `/etc/logrotate.d` and `/etc/rsyslog.conf` of Amazon Linux 2 and 2023, and of Ubuntu 22.04
 */
const hostLogs = [
  ...['amazon', 'apt', 'atop', 'audit', 'auth', 'boot', 'chrony', 'cloud-init', 'cron', 'daemon'],
  ...['dmesg', 'dnf', 'dpkg', 'journal', 'kern', 'maillog', 'messages', 'sa', 'secure', 'sssd'],
  ...['sysstat', 'syslog', 'tuned', 'yum'],
]
const hostLog = new RegExp(`^${logFolder}/(?:${hostLogs.join('|')})\\b`)

/** Names have endings, such as `messages-20261124` or `dnf.rpm.log`. */
export const isHostLog = (path: string): boolean => hostLog.test(path)

/** `writer`: the program that writes them, or nothing. */
type LogRotator = 'auditd' | 'logrotate' | 'writer'

/** Of these, the program itself rotates its logs, or its logs have no file of logrotate. Sources: sysstat(5); amazon-ssm-agent seelog_unix.xml */
const ofWriter = /^\/var\/log\/(?:amazon|cloud-init|sa|sysstat)\b/

/** What rotates the logs in a file or folder by default. Null: logs of several programs are there. Source: auditd.conf(5) max_log_file_action */
export function rotatorOf(path: string): LogRotator | null {
  if (path === logFolder) return null
  if (path.startsWith(`${logFolder}/audit`)) return 'auditd'
  return isHostLog(path) && !ofWriter.test(path) ? 'logrotate' : 'writer'
}
