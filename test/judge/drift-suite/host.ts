/** What a node tells of its own disk: the kubelet's files and flags, as each image lays them out. Sources: as image.ts, and the units of its images. */
import { createHash } from 'node:crypto'
import type { RawObject } from '#base/raw-object.ts'
import { type Image, imageFile } from './image.ts'

/** What stands on the disk besides what the image wrote. */
export interface Files {
  /** Fields of the main file that are others; undefined: not there. */
  main?: RawObject
  /** By file name, in the folder beside the main file. */
  dropIns?: Record<string, RawObject>
  flags?: string[]
  /** Whether the kubelet is told of the folder; by itself it is, where there are drop-ins. */
  hasConfigDir?: boolean
}

interface Machine {
  image: Image
  name: string
  ip: string
  providerId: string
}

const kind = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
const endpoint = '--container-runtime-endpoint=unix:///run/containerd/containerd.sock'

export function hostOf(machine: Machine, files: Files): RawObject {
  const { image, providerId } = machine
  const { config, isAmazonLinux2023 } = pathsOf(image)
  const { args, environment } = startOf(machine, files)
  const main = Object.entries({ ...kind, ...imageFile(image, providerId), ...files.main }).filter(
    ([, value]) => value !== undefined,
  )
  const dropIns = Object.entries(files.dropIns ?? {})
  return {
    schema: 'highwater.host/1',
    kubelet: {
      startedAt: '2026-11-12T06:01:12Z',
      commandLine: ['/usr/bin/kubelet', ...args],
      files: [
        file(config, 'config', Object.fromEntries(main)),
        ...dropIns.map(([name, content]) =>
          file(`${config}.d/${name}`, 'drop-in', { ...kind, ...content }),
        ),
        ...environment.map(([path, content]) => file(path, 'environment', content)),
      ],
    },
    kernel: {
      release: isAmazonLinux2023 ? '6.12.55-74.119.amzn2023.x86_64' : '6.12.55',
      cgroupVersion: image.family === 'AL2' ? 1 : 2,
    },
    unread: [],
  }
}

/** What a node tells whose files may not be read. */
export const refusedHost: RawObject = {
  schema: 'highwater.host/1',
  kubelet: { files: [] },
  unread: [{ what: 'kubelet config', why: 'permission denied' }],
}

const otherPaths: Readonly<Record<string, string>> = {
  AL2: '/etc/kubernetes/kubelet/kubelet-config.json',
  Bottlerocket: '/etc/kubernetes/kubelet/config',
}
const pathsOf = ({ family }: Image) => ({
  config: otherPaths[family] ?? '/etc/kubernetes/kubelet/config.json',
  isAmazonLinux2023: family === 'AL2023',
})

const file = (path: string, role: string, content: RawObject): RawObject => ({
  path,
  role,
  sha256: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
  content,
})

interface Start {
  args: string[]
  environment: [path: string, content: RawObject][]
}

function startOf(
  { image, name, ip }: Machine,
  { dropIns, flags = [], hasConfigDir = dropIns !== undefined }: Files,
): Start {
  const { config } = pathsOf(image)
  const own = [
    `--config=${config}`,
    ...(hasConfigDir ? [`--config-dir=${config}.d`] : []),
    `--node-ip=${ip}`,
    `--hostname-override=${name}`,
  ]
  if (image.family === 'AL2') {
    const ofImage = [...own, endpoint, '--cloud-provider=external', '--v=2']
    const unit = '/etc/systemd/system/kubelet.service.d'
    const extra: Start['environment'] =
      flags.length > 0
        ? [[`${unit}/30-kubelet-extra-args.conf`, { KUBELET_EXTRA_ARGS: flags.join(' ') }]]
        : []
    return {
      args: [...ofImage, ...flags],
      environment: [
        [`${unit}/10-kubelet-args.conf`, { KUBELET_ARGS: ofImage.join(' ') }],
        ...extra,
      ],
    }
  }
  if (image.family === 'Bottlerocket')
    return { args: [...own, endpoint, '--cloud-provider=external', ...flags], environment: [] }
  const args = [
    ...own,
    '--cloud-provider=external',
    '--runtime-cgroups=/runtime.slice/containerd.service',
    ...flags,
  ]
  const alpha = hasConfigDir && image.minor < 30 ? { KUBELET_CONFIG_DROPIN_DIR_ALPHA: 'on' } : {}
  return {
    args,
    environment: [
      ['/etc/eks/kubelet/environment', { NODEADM_KUBELET_ARGS: args.join(' '), ...alpha }],
    ],
  }
}
