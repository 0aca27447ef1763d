import {
  asInt64,
  formatBytes,
  parseQuantity,
  type Quantity,
  quantityOrNull,
} from '#base/go/quantity.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import { line, logRotation, nodeRule, shorten } from '#judge/rule.ts'

const { containerLogMaxSize: defaultSize = '10Mi', containerLogMaxFiles: defaultFiles = 5 } =
  configurationDefaults

export const invalidLogSize = nodeRule({
  id: 'invalid-log-size',
  family: 'logs',
  severity: 'high',
  cause: logRotation,
  needs: ['configuration'],
  title: 'Container log rotation is set to what the kubelet refuses, or switched off',
  why: 'The kubelet does not start with a containerLogMaxSize that is no whole number to it (1.5Gi is none, 1536Mi is one), or with fewer than two containerLogMaxFiles. A negative size starts, and no log is ever rotated.',
  fix: 'Write containerLogMaxSize as a whole number of Mi or Gi, and containerLogMaxFiles as 2 or more.',
  sources: [
    'pkg/kubelet/logs/container_log_manager.go NewContainerLogManager, parseMaxSize',
    'pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration',
    'k8s.io/apimachinery/pkg/api/resource/quantity.go AsInt64',
  ],

  *judge({
    configuration: {
      containerLogMaxSize: size = defaultSize,
      containerLogMaxFiles: files = defaultFiles,
    },
  }) {
    const quantity = quantityOrNull(size)
    const value = quantity && asInt64(quantity)
    if (value === null)
      yield {
        consequence: `A kubelet exits at its start: failed to initialize container log manager: failed to parse container log max size "${shorten(size, 100)}".`,
        evidence: [line('configz', 'containerLogMaxSize', size)],
        fix: { config: { containerLogMaxSize: wholeSize(quantity) } },
      }
    else if (value < 0n)
      yield {
        consequence:
          'No container log is ever rotated: each grows until its container ends, or the disk is full and pods are evicted.',
        evidence: [
          line('configz', 'containerLogMaxSize', `${shorten(size)} (negative: rotation is off)`),
        ],
        fix: { config: { containerLogMaxSize: defaultSize } },
      }
    if (files <= 1)
      yield {
        consequence: `A kubelet exits at its start: containerLogMaxFiles must be greater than 1, and is ${files}.`,
        evidence: [line('configz', 'containerLogMaxFiles', files)],
        fix: { config: { containerLogMaxFiles: defaultFiles } },
      }
  },
})

/** The intended size in the form that the kubelet accepts; the default if it is unknown. */
function wholeSize(quantity: Quantity | null) {
  const bytes = quantity?.safeInteger ?? null
  const text = bytes === null || bytes <= 0 ? defaultSize : formatBytes(bytes)
  return asInt64(parseQuantity(text)) === null ? defaultSize : text
}
