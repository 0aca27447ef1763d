/**
 * How each image sets its kubelet up: where its files are, what they hold before anybody edits them, and its flags.
 *
 * Sources  awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh, nodeadm/internal/kubelet (config.go, environment.go); aws/eks-hybrid
 *          internal/kubelet; the kubelet-eks snap; kubespray roles/kubernetes/node
 */

import type { RawObject } from '#base/raw-object.ts'
import { imageFields } from '#lab/nodes/configz.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import {
  dropInFolder,
  kind,
  mainFile,
  nodeadmDropIn,
  nodeadmEnvironment,
  withoutFolder,
} from './nodeadm-files.ts'
import type { NodeadmSources } from './start.ts'

export interface SetUp {
  program: string
  unit: string
  unitFile: string
  main: string
  /** What the main file holds before anybody edits it. */
  fields: RawObject
  /** What the set-up itself writes beside it, and drop-ins of its own. */
  dropIns: Readonly<Record<string, RawObject>>
  /** Flags in the unit's own command. */
  unitFlags: readonly string[]
  /** Files that give the unit flags, by path: the text around them, and the flags. */
  environment: readonly {
    path: string
    text: (flags: string) => string
    flags: readonly string[]
  }[]
  isYaml: boolean
  /** What it is made anew of. */
  nodeadm?: NodeadmSources
}

const kubeconfig = '--kubeconfig=/var/lib/kubelet/kubeconfig'

/** A kubelet that joined by a bootstrap token has a certificate; those of EKS's images ask IAM for each token. */
export const isOwnCluster = ({ family, labels }: NodeProfile) =>
  family === 'Ubuntu' && !('eks.amazonaws.com/nodegroup' in labels)

const flagsOf = ({ flags = {} }: NodeProfile) =>
  Object.entries(flags).map(([name, value]) => `--${name}=${value}`)

const labelsFlag = ({ labels }: NodeProfile) => {
  const given = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return given.length > 0 ? [`--node-labels=${given.join(',')}`] : []
}

export function setUpOf(profile: NodeProfile): SetUp {
  if (profile.family === 'AL2') return bootstrapped(profile)
  if (profile.family !== 'Ubuntu') return byNodeadm(profile)
  return isOwnCluster(profile) ? byKubespray(profile) : snap(profile)
}

/** User data merges what it wants into the one file before the kubelet starts. */
const bootstrapped = (profile: NodeProfile): SetUp => ({
  program: '/usr/bin/kubelet',
  unit: 'kubelet.service',
  unitFile: '/etc/systemd/system/kubelet.service',
  main: '/etc/kubernetes/kubelet/kubelet-config.json',
  fields: { ...imageFields(profile), ...profile.configuration },
  dropIns: {},
  unitFlags: [
    '--config=/etc/kubernetes/kubelet/kubelet-config.json',
    kubeconfig,
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
  ],
  environment: [
    {
      path: '/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf',
      text: flags => `[Service]\nEnvironment='KUBELET_ARGS=${flags}'\n`,
      flags: [
        `--node-ip=${profile.ip}`,
        '--v=2',
        `--hostname-override=${profile.name}`,
        '--cloud-provider=external',
      ],
    },
    {
      path: '/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf',
      text: flags => `[Service]\nEnvironment='KUBELET_EXTRA_ARGS=${flags}'\n`,
      flags: [...labelsFlag(profile), ...flagsOf(profile)],
    },
  ],
  isYaml: false,
})

/** What the user wants is a drop-in of its own, and only with it is the folder named to the kubelet. */
function byNodeadm(profile: NodeProfile): SetUp {
  const isHybrid = profile.family === 'Hybrid'
  const userData = profile.configuration ?? {}
  const wanted = Object.keys(userData).length > 0
  const main = { ...imageFields(profile), logging: { verbosity: 2 } }
  const flags = [
    `--config=${mainFile}`,
    kubeconfig,
    ...(isHybrid ? [] : ['--cloud-provider=external']),
    `--hostname-override=${profile.name}`,
    `--node-ip=${profile.ip}`,
    '--runtime-cgroups=/runtime.slice/containerd.service',
    `--config-dir=${dropInFolder}`,
    ...labelsFlag(profile),
    ...flagsOf(profile),
  ]
  const { path, text } = nodeadmEnvironment
  return {
    program: '/usr/bin/kubelet',
    unit: 'kubelet.service',
    unitFile: '/etc/systemd/system/kubelet.service',
    main: mainFile,
    fields: main,
    dropIns: wanted
      ? { [isHybrid ? '00-nodeadm.conf' : nodeadmDropIn]: { ...kind, ...userData } }
      : {},
    unitFlags: [],
    environment: [
      { path, text: given => text([given]), flags: wanted ? flags : withoutFolder(flags) },
    ],
    isYaml: false,
    // On a machine of one's own nobody calls it again.
    ...(!isHybrid && { nodeadm: { main, flags, userData } }),
  }
}

const snap = (profile: NodeProfile): SetUp => ({
  program: '/snap/kubelet-eks/200/kubelet',
  unit: 'snap.kubelet-eks.daemon.service',
  unitFile: '/etc/systemd/system/snap.kubelet-eks.daemon.service',
  main: '/etc/kubernetes/kubelet/kubelet-config.json',
  fields: { ...imageFields(profile), ...profile.configuration },
  dropIns: {},
  unitFlags: [],
  environment: [
    {
      path: '/var/snap/kubelet-eks/current/args',
      text: flags => `KUBELET_ARGS="${flags}"\n`,
      flags: [
        '--config=/etc/kubernetes/kubelet/kubelet-config.json',
        kubeconfig,
        `--hostname-override=${profile.name}`,
        '--v=2',
        ...labelsFlag(profile),
        ...flagsOf(profile),
      ],
    },
  ],
  isYaml: false,
})

const byKubespray = (profile: NodeProfile): SetUp => ({
  program: '/usr/local/bin/kubelet',
  unit: 'kubelet.service',
  unitFile: '/etc/systemd/system/kubelet.service',
  main: '/etc/kubernetes/kubelet-config.yaml',
  fields: { ...imageFields(profile), ...profile.configuration },
  dropIns: {},
  unitFlags: [],
  environment: [
    {
      path: '/etc/kubernetes/kubelet.env',
      text: flags => `KUBELET_ARGS="${flags}"\n`,
      flags: [
        '--v=2',
        `--node-ip=${profile.ip}`,
        `--hostname-override=${profile.name}`,
        '--kubeconfig=/etc/kubernetes/kubelet.conf',
        '--config=/etc/kubernetes/kubelet-config.yaml',
        '--runtime-cgroups=/runtime.slice/containerd.service',
        ...flagsOf(profile),
      ],
    },
  ],
  isYaml: true,
})
