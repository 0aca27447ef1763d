/** `v1.Pod` of a pod profile, as the API server lists it. */

import type { KubernetesPod } from '#model/input/record.ts'
import type { StringMap } from '#model/kubelet/configuration.ts'
import type { ContainerProfile, PodProfile } from './pod-profile.ts'
import type { NodeProfile } from './profile.ts'
import { digits, uidOf } from './random.ts'
import { podReadiness, readinessOf } from './readiness.ts'

/** A pod starts this long before the lab's now, a finished or failed one ends this long before. */
const ageMs = 6 * 3_600_000
const endedMs = 2 * 3_600_000

export const podUid = ({ namespace, name }: { namespace: string; name: string }) =>
  uidOf(`pod/${namespace}/${name}`)

export const containerId = (pod: { name: string }, container: { name: string }) =>
  digits(`${pod.name}/${container.name}`)

export const podStart = (at: string) => before(at, ageMs)

const apiVersions: Partial<Record<PodProfile['owner']['kind'], string>> = {
  Job: 'batch/v1',
  Pod: 'v1',
}

export function podObject(node: NodeProfile, pod: PodProfile, at: string): KubernetesPod {
  const sinceMs = pod.endedHoursAgo === undefined ? endedMs : pod.endedHoursAgo * 3_600_000
  const startedAt = before(at, sinceMs + ageMs - endedMs)
  return {
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: podUid(pod),
      resourceVersion: String(100_000 + parseInt(digits(pod.name).slice(0, 5), 16)),
      creationTimestamp: startedAt,
      labels: pod.labels,
      ...(pod.annotations && { annotations: pod.annotations }),
      ownerReferences: [
        {
          apiVersion: apiVersions[pod.owner.kind] ?? 'apps/v1',
          kind: pod.owner.kind,
          name: pod.owner.name,
          uid: uidOf(`${pod.owner.kind}/${pod.namespace}/${pod.owner.name}`),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...(pod.emptyDir && { volumes: [{ name: pod.emptyDir.name, emptyDir: {} }] }),
      containers: pod.containers.map(container => ({
        name: container.name,
        image: container.image,
        ...(container.env && {
          env: Object.entries(container.env).map(([name, value]) => ({ name, value })),
        }),
        resources: resourcesOf(container),
        ...Object.fromEntries((container.probes ?? []).map(name => [`${name}Probe`, probe])),
        ...(pod.emptyDir && {
          volumeMounts: [{ name: pod.emptyDir.name, mountPath: `/${pod.emptyDir.name}` }],
        }),
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      })),
      restartPolicy: pod.owner.kind === 'Job' ? 'Never' : 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: pod.owner.name,
      nodeName: node.name,
      schedulerName: 'default-scheduler',
      tolerations: tolerationsOf(pod),
      priority: pod.priority?.value ?? 0,
      ...(pod.priority && { priorityClassName: pod.priority.className }),
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: { ...statusOf(node, pod, startedAt, before(at, sinceMs)), qosClass: qosClass(pod) },
  }
}

function statusOf(
  node: NodeProfile,
  pod: PodProfile,
  startedAt: string,
  endedAt: string,
): NonNullable<KubernetesPod['status']> {
  const common = { phase: pod.phase, hostIP: node.ip, startTime: startedAt }
  if (pod.failure)
    return {
      ...common,
      ...pod.failure,
      conditions: [
        {
          ...{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' },
          lastTransitionTime: endedAt,
        },
      ],
    }
  const running = pod.phase === 'Running'
  const readiness = podReadiness(node, pod)
  const isReady = running && readiness.isReady
  return {
    ...common,
    podIP: node.ip,
    conditions: [
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ].map(type => ({
      type,
      status:
        (/Ready$/.test(type) ? isReady : running) ||
        type === 'Initialized' ||
        type === 'PodScheduled'
          ? 'True'
          : 'False',
      lastTransitionTime:
        running && readiness.sinceMs !== null && /Ready$/.test(type)
          ? timeOf(readiness.sinceMs)
          : startedAt,
      ...(!running && type !== 'PodScheduled' && { reason: 'PodCompleted' }),
      ...(running && !isReady && /Ready$/.test(type) && { reason: 'ContainersNotReady' }),
    })),
    containerStatuses: pod.containers.map(container => {
      const { isStarted, isReady: isContainerReady } = readinessOf(node, container)
      const containerID = `containerd://${containerId(pod, container)}`
      return {
        name: container.name,
        state: running
          ? { running: { startedAt } }
          : {
              terminated: {
                ...(pod.phase === 'Failed'
                  ? { exitCode: 1, reason: 'Error' }
                  : { exitCode: 0, reason: 'Completed' }),
                startedAt,
                finishedAt: endedAt,
                containerID,
              },
            },
        lastState: {},
        ready: running && isContainerReady,
        restartCount: 0,
        image: container.image,
        imageID: `${container.image.replace(/:[^:/]*$/, '')}@sha256:${digits(container.image)}`,
        containerID,
        started: running && isStarted,
      }
    }),
  }
}

const probe = {
  httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
  timeoutSeconds: 1,
  periodSeconds: 1,
  successThreshold: 1,
  failureThreshold: 30,
}

const resourcesOf = ({ requests, limits }: ContainerProfile) => ({
  ...(limits && { limits }),
  ...(requests && { requests }),
})

const tolerationsOf = (pod: PodProfile) =>
  pod.owner.kind === 'DaemonSet'
    ? [{ operator: 'Exists' }]
    : ['not-ready', 'unreachable'].map(taint => ({
        key: `node.kubernetes.io/${taint}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      }))

/** Upstream: pkg/apis/core/v1/helper/qos ComputePodQOS. */
function qosClass({ containers }: PodProfile): string {
  const isGuaranteed = ({ requests, limits }: ContainerProfile) =>
    ['cpu', 'memory'].every(
      name => limits?.[name] && requestOf(requests, limits, name) === limits[name],
    )
  if (containers.every(isGuaranteed)) return 'Guaranteed'
  return containers.some(({ requests, limits }) => requests || limits) ? 'Burstable' : 'BestEffort'
}

const requestOf = (requests: StringMap | undefined, limits: StringMap, name: string) =>
  requests?.[name] ?? limits[name]

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`
const before = (at: string, ms: number) => timeOf(Date.parse(at) - ms)
