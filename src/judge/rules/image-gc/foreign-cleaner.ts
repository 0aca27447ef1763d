import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import {
  isSourceExpected,
  line,
  nodeRule,
  plural,
  podName,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import { canonicalName } from '#model/input/image-reference.ts'
import type { KubernetesPod } from '#model/input/record.ts'

/** Repositories, without registry, of programs that delete images. */
const cleanerImage =
  /\/(?:eraser(?:-dev)?\/(?:remover|collector|eraser-manager)|docker-gc(?:-cron)?|docker-cleanup|containerd-gc)(?:[:@]|$)/
/** Path of a runtime's socket, or of the folder that contains the socket. */
const runtimePath = /\/(?:containerd|docker|dockershim|crio)(?:\.sock)?\/?$/
/** A program with the host's root mounted can do anything, so its name must mention images. */
const ofImages = /image|docker|containerd|crictl|nerdctl/
/** End of the name of a CronJob's Job: the scheduled time in minutes since 1970. */
const cronJobRun = /-\d{8,10}$/
const cleanerName = /(?:^|[-_./])(?:clean(?:er|up)?|prune[rs]?|gc|purge[rs]?)(?:[-_.:@]|$)/

export const foreignCleaner = nodeRule({
  id: 'foreign-cleaner',
  family: 'image-gc',
  severity: 'medium',
  cause: worldCause('foreign-cleaner'),
  title: 'Another program deletes images behind the kubelet',
  why: 'Eraser, docker-gc, and pods or jobs of the host that prune through the socket of the runtime ignore the thresholds and image ages of the kubelet. They delete images that the next pod pulls again, and the records of the kubelet are wrong until its next detection.',
  fix: 'Remove the pod or job and let image GC of the kubelet do it: set its thresholds and imageMaximumGCAge. A pod is known by its image, or by its name together with a mount of the runtime or the host: its command is not read. Jobs of the host are crontabs of root, cron scripts and units in /etc/systemd/system, read in modes ssm and both.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go detectImages',
    'github.com/eraser-dev/eraser',
    'github.com/spotify/docker-gc',
    'pkg/controller/cronjob/utils.go getJobName',
  ],

  *judge(subject) {
    const { pods, host, missing } = subject
    const jobs = (host?.cleaners ?? []).filter(({ command = '' }) => deletesImages(command))
    const found = [
      ...(pods ?? []).flatMap(cleanersIn),
      ...jobs.map(({ path = '', command = '' }) => ({
        name: shorten(path, 120),
        evidence: line('host', `job ${shorten(path, 120)}`, shorten(command, 160)),
      })),
    ]
    if (found.length > 0)
      yield {
        confidence: 'likely',
        consequence: `${plural(found.length, 'program')} can delete images at any time, whatever thresholds the kubelet has: ${found
          .slice(0, 3)
          .map(({ name }) => name)
          .join(', ')}.`,
        evidence: found.slice(0, 10).map(({ evidence }) => evidence),
      }
    else if (!pods) yield { unknown: missing.pods ?? 'the pods are not known' }
    else if (!host && isSourceExpected(subject, 'host'))
      yield { unknown: missing.host ?? 'the jobs of the host are not known' }
  },
})

/** `crictl rmi --prune`, `docker system prune -af`, `ctr -n k8s.io images rm …`; not `docker rm`. */
function deletesImages(command: string) {
  const words = new Set(command.split(/[ "']/))
  const hasWord = (...any: string[]) => any.some(word => words.has(word))
  return (
    hasWord('rmi') ||
    (hasWord('system', 'image', 'images', 'i') && hasWord('prune', 'rm', 'remove', 'del', 'delete'))
  )
}

function cleanersIn({ metadata, spec, status }: KubernetesPod) {
  if (isTerminalPhase(status?.phase) && !isOfCronJob(metadata)) return []
  const images = (spec?.containers ?? []).map(({ image = '' }) => image)
  const known = images.find(image => cleanerImage.test(canonicalName(image)))
  const cleanerPod = (why: string) => {
    const name = shorten(podName(metadata), 120)
    return [{ name, evidence: line('object', `pod ${name}`, why) }]
  }
  if (known !== undefined) return cleanerPod(shorten(known, 160))
  images.push(metadata?.name ?? '')
  const names = images.filter(text => cleanerName.test(text))
  if (names.length === 0) return []
  const areOfImages = names.some(text => ofImages.test(text))
  const mount = (spec?.volumes ?? [])
    .map(({ hostPath }) => hostPath?.path ?? '')
    .find(path => runtimePath.test(path) || (path === '/' && areOfImages))
  return mount === undefined ? [] : cleanerPod(`mounts ${shorten(mount, 100)}`)
}

/** A finished pod of a CronJob counts, because the next run will come. */
const isOfCronJob = (metadata: KubernetesPod['metadata']) =>
  metadata?.ownerReferences?.some(
    ({ kind, name }) => kind === 'Job' && cronJobRun.test(name ?? ''),
  ) === true
