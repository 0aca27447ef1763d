/** A node of each OS family as its image and a few weeks of use leave it; a test names only what is different with its own. */
import type { NodeRoot } from './node-root.ts'

const secret = 'hunter2'
/** No text in hexadecimal, as ids of a runtime are none. */
const hex = (letter: string) => `8${letter}`.repeat(32)
const nul = (...words: string[]) => `${words.join('\0')}\0`
const json = (value: unknown) => JSON.stringify(value, null, 2)
/** Prints a text as it is. */
export const prints = (text: string) => `cat <<'END_OF_TEXT'\n${text}\nEND_OF_TEXT`
/** Answers by its arguments, and fails for others as the real one does. */
export const answers = (cases: Record<string, string>) =>
  `case "$*" in\n${Object.entries(cases)
    .map(
      ([given, script]) =>
        `  '${given.replace(/\*$/, '')}'${given.endsWith('*') ? '*' : ''})\n${script}\n;;`,
    )
    .join('\n')}\n  *) echo "unknown: $*" >&2; exit 1 ;;\nesac`

const pause = '602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10'
export const cri = {
  images: {
    images: [
      {
        id: `sha256:${hex('a')}`,
        repoTags: [pause],
        repoDigests: [`602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause@sha256:${hex('b')}`],
        size: '318731',
        uid: null,
        username: '',
        spec: { image: '', annotations: { note: secret } },
        pinned: true,
      },
      {
        id: `sha256:${hex('c')}`,
        repoTags: [],
        repoDigests: [`docker.io/library/shop@sha256:${hex('d')}`],
        size: '734003200',
        uid: { value: '0' },
        username: '',
        spec: null,
        pinned: false,
      },
    ],
  },
  containers: {
    containers: [
      {
        id: hex('1'),
        podSandboxId: hex('2'),
        metadata: { name: 'app', attempt: 3 },
        image: {
          image: `sha256:${hex('c')}`,
          annotations: { password: secret },
          userSpecifiedImage: 'shop:1',
          runtimeHandler: '',
        },
        imageRef: `sha256:${hex('c')}`,
        imageId: `sha256:${hex('c')}`,
        state: 'CONTAINER_EXITED',
        createdAt: '1763700000000000000',
        labels: {
          'io.kubernetes.container.name': 'app',
          'io.kubernetes.pod.name': 'shop-1',
          'io.kubernetes.pod.namespace': 'shop',
          'io.kubernetes.pod.uid': '11111111-2222-3333-4444-555555555555',
          team: secret,
        },
        annotations: {
          'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
          token: `{"a":"${secret} \\" { [ "}`,
        },
      },
    ],
  },
  pods: {
    items: [
      {
        id: hex('2'),
        metadata: {
          name: 'shop-1',
          uid: '11111111-2222-3333-4444-555555555555',
          namespace: 'shop',
          attempt: 0,
        },
        state: 'SANDBOX_READY',
        createdAt: '1763600000000000000',
        labels: {
          app: secret,
          'io.kubernetes.pod.name': 'shop-1',
          'io.kubernetes.pod.namespace': 'shop',
        },
        annotations: { 'kubernetes.io/config.seen': secret },
        runtimeHandler: '',
      },
    ],
  },
  imagefsinfo: {
    status: {
      imageFilesystems: [
        {
          timestamp: '1763769600000000000',
          fsId: { mountpoint: '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs' },
          usedBytes: { value: '9663676416' },
          inodesUsed: { value: '120000' },
        },
      ],
      containerFilesystems: [],
    },
  },
  info: {
    status: { conditions: [{ type: 'RuntimeReady', status: true }] },
    config: {
      containerd: {
        snapshotter: 'overlayfs',
        discardUnpackedLayers: true,
        runtimes: { runc: { options: { SystemdCgroup: true } } },
      },
      sandboxImage: pause,
      registry: {
        configPath: '/etc/containerd/certs.d',
        mirrors: { 'docker.io': { endpoint: [`https://${secret}:${secret}@mirror.example.com`] } },
        configs: {
          'mirror.example.com': { auth: { username: 'x', password: secret, auth: secret } },
        },
        auths: { 'https://mirror.example.com': { password: secret } },
      },
    },
  },
}
/** What `runtime` then is. */
const [kept, other] = cri.images.images
const [container] = cri.containers.containers
const [sandbox] = cri.pods.items
const only = (value: object | undefined, ...names: string[]) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => names.includes(name)))
const labels = Object.fromEntries(
  Object.entries(container?.labels ?? {}).filter(([name]) => name !== 'team'),
)
const podLabels = Object.fromEntries(
  Object.entries(sandbox?.labels ?? {}).filter(([name]) => name !== 'app'),
)
export const runtime = {
  images: [kept, other].map(image =>
    only(image, 'id', 'repoTags', 'repoDigests', 'size', 'pinned'),
  ),
  containers: [
    {
      ...only(
        container,
        'id',
        'podSandboxId',
        'metadata',
        'imageRef',
        'imageId',
        'state',
        'createdAt',
      ),
      image: { image: `sha256:${hex('c')}` },
      labels,
    },
  ],
  sandboxes: [{ ...only(sandbox, 'id', 'metadata', 'state', 'createdAt'), labels: podLabels }],
  imageFs: cri.imagefsinfo.status,
}

export const crictl = (
  changed: Partial<Record<'images' | 'ps' | 'pods' | 'imagefsinfo' | 'info', string>> = {},
) =>
  answers({
    'images -o json': changed.images ?? prints(json(cri.images)),
    'ps -a -o json': changed.ps ?? prints(json(cri.containers)),
    'pods -o json': changed.pods ?? prints(json(cri.pods)),
    'imagefsinfo -o json': changed.imagefsinfo ?? prints(json(cri.imagefsinfo)),
    info: changed.info ?? prints(json(cri.info)),
  })

const df = answers({
  '-P -k *': prints(
    'Filesystem     1024-blocks     Used Available Capacity Mounted on\n/dev/nvme0n1p1    20960236 12345678   8614558      59% /',
  ),
  '-P -i *': prints(
    'Filesystem      Inodes  IUsed   IFree IUse% Mounted on\n/dev/nvme0n1p1 10485760 250000 10235760    3% /',
  ),
})
const journal = [
  '2026-11-21T10:00:00+0000 ip-10-0-0-1 kubelet[900]: I1121 10:00:00.000000     900 image_gc_manager.go:391] "Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold" usage=86',
  '2026-11-21T10:00:01+0000 ip-10-0-0-1 kubelet[900]: I1121 10:00:01.000000     900 kubelet.go:2406] "SyncLoop ADD"',
  `2026-11-21T10:00:02+0000 ip-10-0-0-1 kubelet[900]: E1121 10:00:02.000000     900 eviction_manager.go:614] "Eviction manager: must evict pod(s) to reclaim" --token=${secret}`,
].join('\n')

/** All of the family's common parts. */
function linux(
  arguments_: string[],
  unit: string,
  systemd: Record<string, string>,
): Pick<NodeRoot, 'files' | 'folders' | 'links' | 'tools'> & { tools: Record<string, string> } {
  return {
    files: {
      '/proc/stat': 'cpu  1 2 3\nbtime 1763596800\n',
      '/proc/1/comm': 'systemd\n',
      '/proc/1/cmdline': nul('/sbin/init'),
      '/proc/900/comm': 'kubelet\n',
      '/proc/900/status': 'Name:\tkubelet\nUid:\t0\t0\t0\t0\n',
      '/proc/900/cgroup': `0::/runtime.slice/${unit}\n`,
      '/proc/900/cmdline': nul(...arguments_),
      // 60.00 seconds after the start of the machine.
      '/proc/900/stat': `900 (kubelet) S 1 900 900 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 15 0 6000 2000000 1 2\n`,
      // A kubelet in a pod, as of a cluster in a container.
      '/proc/800/comm': 'kubelet\n',
      '/proc/800/status': 'Name:\tkubelet\nUid:\t0\t0\t0\t0\n',
      '/proc/800/cgroup': '0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope\n',
      '/proc/800/cmdline': nul('kubelet', '--config=/somewhere/else'),
      '/proc/sys/kernel/osrelease': '6.1.158-178.288.amzn2023.x86_64\n',
      '/proc/sys/kernel/hostname': 'ip-10-0-0-1.eu-west-1.compute.internal\n',
      '/proc/cmdline': 'BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p1 quiet\n',
      '/var/lib/kubelet/pki/kubelet-client-current.pem': secret,
      '/var/log/pods/shop_shop-1_uid/app/0.log': 'x'.repeat(3000),
      '/var/log/pods/shop_shop-1_uid/app/0.log.20261120-101010.gz': 'x'.repeat(100),
      '/var/log/pods/shop_shop-1_uid/app/0.log.1-20261120.gz': 'x'.repeat(200),
      '/etc/logrotate.conf':
        '# see "man logrotate"\nweekly\nrotate 4\ncreate\ndateext\ncompress\ninclude /etc/logrotate.d\n',
      '/etc/logrotate.d/kube-proxy':
        '/var/log/kube-proxy.log {\n  copytruncate\n  missingok\n  rotate 5\n  daily\n  compress\n}\n',
    },
    folders: ['/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs', '/sys/fs/cgroup'],
    links: {
      '/var/log/containers/shop-1_shop_app-1.log': '/var/log/pods/shop_shop-1_uid/app/0.log',
    },
    tools: {
      crictl: crictl(),
      df,
      // Blocks differ from disk to disk.
      du: 'for last; do :; done; echo "40 $last"',
      systemctl: answers(systemd),
      journalctl: answers({ '-u *': prints(journal) }),
    },
  }
}

const timer = {
  'show logrotate.timer *': prints(
    'LoadState=loaded\nActiveState=active\nTimersCalendar={ OnCalendar=*-*-* 00:00:00 ; next_elapse=Sun 2026-11-22 00:00:00 UTC }\nLastTriggerUSec=Sat 2026-11-21 00:00:00 UTC',
  ),
}
const cgroupV2 = {
  '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory pids\n',
  '/sys/fs/cgroup/cgroup.stat':
    'nr_descendants 220\nnr_subsys_memory 150\nnr_dying_descendants 40\nnr_dying_subsys_memory 33\n',
}

export function al2023(
  dropIns: NodeRoot['files'] = {},
): NodeRoot & { tools: Record<string, string> } {
  const folder =
    Object.keys(dropIns).length > 0 ? ['--config-dir=/etc/kubernetes/kubelet/config.json.d'] : []
  const arguments_ = [
    '/usr/bin/kubelet',
    '--config=/etc/kubernetes/kubelet/config.json',
    '--hostname-override=ip-10-0-0-1.eu-west-1.compute.internal',
    '--node-ip=10.0.0.1',
    ...folder,
  ]
  const node = linux(arguments_, 'kubelet.service', {
    ...timer,
    'show kubelet.service *': prints(
      'FragmentPath=/etc/systemd/system/kubelet.service\nDropInPaths=\nEnvironmentFiles=/etc/eks/kubelet/environment (ignore_errors=no)',
    ),
  })
  return {
    ...node,
    files: {
      ...node.files,
      ...cgroupV2,
      '/etc/kubernetes/kubelet/config.json': json({
        kind: 'KubeletConfiguration',
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        authorization: { mode: 'Webhook' },
        containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
        evictionHard: {
          'memory.available': '100Mi',
          'nodefs.available': '10%',
          'nodefs.inodesFree': '5%',
        },
        featureGates: { KubeletEnsureSecretPulledImages: true },
        staticPodURLHeader: { Authorization: [secret] },
        apiToken: secret,
        maxPods: 58,
      }),
      '/etc/eks/kubelet/environment': `NODEADM_KUBELET_ARGS=${arguments_.slice(1).join(' ')} --token=${secret}\nAWS_SECRET_ACCESS_KEY=${secret}\nPROXY=http://u:${secret}@proxy\n`,
      ...Object.fromEntries(
        Object.entries(dropIns).map(([name, content]) => [
          `/etc/kubernetes/kubelet/config.json.d/${name}`,
          content,
        ]),
      ),
      '/etc/containerd/config.toml': `version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]\n[plugins.'io.containerd.cri.v1.images']\ndiscard_unpacked_layers = true\nsnapshotter = "overlayfs"\n[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = "localhost/kubernetes/pause"\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = "/etc/containerd/certs.d:/etc/docker/certs.d"\n`,
      '/etc/containerd/certs.d/quay.io/hosts.toml': `server = "https://quay.io"\n[host."https://x:${secret}@mirror.example.com"]\n  capabilities = ["pull"]\n[host."https://mirror.example.com".header]\n  authorization = "Bearer ${secret}"\n`,
    },
  }
}

export function al2(): NodeRoot & { tools: Record<string, string> } {
  const arguments_ = [
    '/usr/bin/kubelet',
    '--config',
    '/etc/kubernetes/kubelet/kubelet-config.json',
    '--v=2',
    '--max-pods=29',
  ]
  const node = linux(arguments_, 'kubelet.service', {
    'show kubelet.service *': prints(
      'FragmentPath=/etc/systemd/system/kubelet.service\nDropInPaths=/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf /etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf',
    ),
    'show logrotate.timer *': prints('LoadState=not-found\nActiveState=inactive'),
  })
  return {
    ...node,
    files: {
      ...node.files,
      '/proc/900/cgroup':
        '11:memory:/runtime.slice/kubelet.service\n1:name=systemd:/runtime.slice/kubelet.service\n',
      '/proc/sys/kernel/osrelease': '5.10.245-243.979.amzn2.x86_64\n',
      '/proc/cgroups':
        '#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t3\t200\t1\nmemory\t9\t1203\t1\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '1\n',
      '/sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes': '1\n',
      '/etc/kubernetes/kubelet/kubelet-config.json': json({
        kind: 'KubeletConfiguration',
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        maxPods: 29,
      }),
      '/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf': `[Service]\nEnvironment='KUBELET_ARGS=--node-ip=10.0.0.1 --v=2' "OTHER=${secret}"\n`,
      '/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf':
        "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--max-pods=29'\n",
      '/etc/containerd/config.toml': `version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "${pause}"\n[plugins."io.containerd.grpc.v1.cri".containerd]\ndiscard_unpacked_layers = true\nsnapshotter = "overlayfs"\n[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]\nendpoint = [\n  "https://mirror.example.com",\n  "https://registry-1.docker.io",\n]\n[plugins."io.containerd.grpc.v1.cri".registry.configs."mirror.example.com".auth]\npassword = "${secret}"\n`,
      '/etc/logrotate.d/containers':
        '/var/lib/docker/containers/*/*.log\n"/var/log/pods/*/*/*.log" {\n  size=100M\n  maxsize 1G\n  rotate 2\n  postrotate\n    echo hunter2 }\n  endscript\n}\n/var/log/a.log /var/log/b.log { \n hourly # often\n}\n',
      '/etc/cron.d/logs': `MAILTO=${secret}\n*/15 * * * * root PASSWORD=${secret} /usr/sbin/logrotate /etc/logrotate.d/containers\n`,
    },
    tools: {
      ...node.tools,
      // The crictl of that time prints one filesystem.
      crictl: crictl({
        imagefsinfo: prints(json({ status: cri.imagefsinfo.status.imageFilesystems[0] })),
        info: 'echo "FATA[0000] no info" >&2; exit 1',
      }),
    },
  }
}

export function ubuntu(): NodeRoot & { tools: Record<string, string> } {
  const node = linux(
    [
      '/snap/kubelet-eks/200/kubelet',
      '--config=/etc/kubernetes/kubelet/kubelet-config.json',
      '--root-dir=/data/kubelet',
    ],
    'snap.kubelet-eks.daemon.service',
    { ...timer },
  )
  return {
    ...node,
    files: {
      ...node.files,
      ...cgroupV2,
      '/data/kubelet/x': '',
      '/proc/sys/kernel/osrelease': '6.8.0-1029-aws\n',
      '/etc/kubernetes/kubelet/kubelet-config.json': `# by hand\nkind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nevictionHard:\n  nodefs.available: 10%\nstaticPodURLHeader:\n  Authorization:\n  - ${secret}\ncontainerRuntimeEndpoint: "unix:///run/containerd/containerd.sock"\npodLogsDir: /data/pods\nmaxPods: 110\n`,
      '/data/pods/a_b_c/d/0.log': 'x',
      '/var/snap/kubelet-eks/current/args': 'KUBELET_ARGS="--v=4"\n',
    },
  }
}

export function hybrid(): NodeRoot & { tools: Record<string, string> } {
  const node = al2023({
    '00-nodeadm.conf': json({
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      maxPods: 42,
    }),
  })
  return { ...node, environment: { AWS_SSM_INSTANCE_ID: 'mi-0123456789abcdef0' } }
}

/** What the control container sees. */
export function bottlerocket(): NodeRoot & { tools: Record<string, string> } {
  return {
    files: {
      '/proc/sys/kernel/osrelease': '6.12.58\n',
      '/proc/cmdline': 'BOOT_IMAGE=(hd0,gpt3)/vmlinuz quiet\n',
      '/sys/fs/cgroup/cgroup.controllers': 'memory\n',
    },
    tools: {
      apiclient: answers({
        'get settings.kubernetes': prints(
          json({
            settings: {
              kubernetes: {
                'bootstrap-token': secret,
                'server-key': secret,
                'cluster-name': 'prod',
                'credential-providers': { ecr: { environment: { AWS_SECRET: secret } } },
                'eviction-hard': { 'memory.available': '15%' },
                'hostname-override': 'ip-10-0-0-1.eu-west-1.compute.internal',
                'image-gc-high-threshold-percent': '85',
                'max-pods': 58,
                'static-pods': { x: { manifest: secret } },
              },
            },
          }),
        ),
        'get settings.container-registry': prints(
          json({
            settings: {
              'container-registry': {
                credentials: [{ registry: 'x', password: secret }],
                mirrors: [
                  { registry: 'docker.io', endpoint: [`https://u:${secret}@mirror.example.com`] },
                ],
              },
            },
          }),
        ),
        'get os': prints(
          json({
            os: {
              pretty_name: 'Bottlerocket OS 1.51.0 (aws-k8s-1.34)',
              variant_id: 'aws-k8s-1.34',
              version_id: '1.51.0',
              build_id: 'abc',
              arch: 'x86_64',
            },
          }),
        ),
      }),
    },
  }
}
