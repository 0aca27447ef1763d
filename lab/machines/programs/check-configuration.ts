/**
 * The checks of the lab's own kubelet: what is not in them it takes. They are written apart from the replay's, so that neither is its own witness.
 *
 * Upstream  pkg/kubelet/apis/config/validation/validation.go; pkg/kubelet/images/image_gc_manager.go NewImageGCManager;
 *           pkg/kubelet/eviction/helpers.go ParseThresholdConfig; pkg/kubelet/logs/container_log_manager.go
 */
import { parseDuration } from '#base/go/duration.ts'
import { parseQuantity, signOf } from '#base/go/quantity.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'

/** @param configuration with every default @throws Error: the first thing that is wrong, as the kubelet says it on its way out */
export function checkConfiguration(configuration: RawObject): void {
  for (const why of [
    ...imageGc(configuration),
    ...eviction(configuration),
    ...reservations(configuration),
    ...logs(configuration),
    ...numbers(configuration),
  ])
    throw new Error(why)
}

const invalid = (what: string) => `failed to validate kubelet configuration, error: ${what}`

function* imageGc(configuration: RawObject): Generator<string> {
  const percent = (name: string) => Number(configuration[name])
  const [high, low] = [
    percent('imageGCHighThresholdPercent'),
    percent('imageGCLowThresholdPercent'),
  ]
  for (const [name, value] of Object.entries({
    imageGCHighThresholdPercent: high,
    imageGCLowThresholdPercent: low,
  }))
    if (!(value >= 0 && value <= 100))
      yield invalid(`invalid configuration: ${name} ${value} must be between 0 and 100, inclusive`)
  if (low >= high)
    yield invalid(
      `invalid configuration: imageGCLowThresholdPercent ${low} must be less than imageGCHighThresholdPercent ${high}`,
    )
  const [least, most] = [
    nanoseconds(configuration.imageMinimumGCAge),
    nanoseconds(configuration.imageMaximumGCAge),
  ]
  if (most < 0n) yield invalid('invalid configuration: imageMaximumGCAge must not be negative')
  if (most !== 0n && least > most)
    yield invalid('invalid configuration: imageMaximumGCAge must be greater than imageMinimumGCAge')
}

const nanoseconds = (value: unknown) => (typeof value === 'string' ? parseDuration(value) : 0n)

const signals = new Set([
  ...[
    'memory.available',
    'nodefs.available',
    'nodefs.inodesFree',
    'imagefs.available',
    'imagefs.inodesFree',
  ],
  ...[
    'containerfs.available',
    'containerfs.inodesFree',
    'allocatableMemory.available',
    'pid.available',
  ],
])

function* eviction({
  evictionHard,
  evictionSoft,
  evictionSoftGracePeriod,
  evictionMinimumReclaim,
}: RawObject): Generator<string> {
  for (const [signal, value] of [
    ...entries(evictionHard),
    ...entries(evictionSoft),
    ...entries(evictionMinimumReclaim),
  ]) {
    if (!signals.has(signal)) yield `unsupported eviction signal ${signal}`
    yield* percentageOrQuantity(signal, String(value))
  }
  for (const [signal] of entries(evictionSoft))
    if (!entries(evictionSoftGracePeriod).some(([other]) => other === signal))
      yield `grace period must be specified for the soft eviction threshold ${signal}`
  for (const [signal, value] of entries(evictionSoftGracePeriod))
    if (parses(() => parseDuration(String(value))) === null || String(value).startsWith('-'))
      yield `invalid eviction grace period ${String(value)} of ${signal}`
}

function* percentageOrQuantity(signal: string, value: string): Generator<string> {
  if (value.endsWith('%')) {
    const percent = Number(value.slice(0, -1))
    if (!(percent >= 0 && percent < 100))
      yield `eviction percentage threshold ${signal} must be >= 0% and < 100%: ${value}`
  } else if (isNegativeOrNone(value))
    yield `eviction threshold ${signal} must be a positive quantity: ${value}`
}

const resources = new Set(['cpu', 'memory', 'ephemeral-storage', 'pid'])

function* reservations({ kubeReserved, systemReserved }: RawObject): Generator<string> {
  for (const [resource, value] of [...entries(kubeReserved), ...entries(systemReserved)]) {
    if (!resources.has(resource)) yield `cannot reserve "${resource}" resource`
    if (isNegativeOrNone(String(value)))
      yield `failed to parse quantity "${String(value)}" for "${resource}" resource`
  }
}

function* logs(configuration: RawObject): Generator<string> {
  const {
    containerLogMaxFiles,
    containerLogMaxSize,
    containerLogMaxWorkers,
    containerLogMonitorInterval,
  } = configuration
  if (Number(containerLogMaxFiles) < 2)
    yield `failed to create container log manager: invalid MaxFiles ${String(containerLogMaxFiles)}, must be > 1`
  if (isNegativeOrNone(String(containerLogMaxSize)))
    yield `failed to parse container log max size "${String(containerLogMaxSize)}"`
  if (Number(containerLogMaxWorkers) < 1)
    yield invalid(
      'invalid configuration: containerLogMaxWorkers must be greater than or equal to 1',
    )
  if (nanoseconds(containerLogMonitorInterval) < 3_000_000_000n)
    yield invalid(
      'invalid configuration: containerLogMonitorInterval must be greater than or equal to 3s',
    )
}

/** The least of each. */
const least: Readonly<Record<string, number>> = {
  eventBurst: 0,
  eventRecordQPS: 0,
  kubeAPIBurst: 0,
  registryBurst: 0,
  registryPullQPS: 0,
  maxOpenFiles: 0,
  maxPods: 0,
  maxParallelImagePulls: 1,
  nodeLeaseDurationSeconds: 1,
  healthzPort: 0,
}

function* numbers(configuration: RawObject): Generator<string> {
  for (const [name, bound] of Object.entries(least)) {
    const value = configuration[name]
    if (typeof value === 'number' && value < bound)
      yield invalid(`invalid configuration: ${name} ${value} must not be less than ${bound}`)
  }
}

const entries = (map: unknown): [string, unknown][] => (isRawObject(map) ? Object.entries(map) : [])

const isNegativeOrNone = (text: string) => {
  const quantity = parses(() => parseQuantity(text))
  return quantity === null || signOf(quantity) < 0
}

/** Null: it cannot be read. */
function parses<Value>(parse: () => Value): Value | null {
  try {
    return parse()
  } catch {
    return null // what it said is said by the caller, with the field's name
  }
}
