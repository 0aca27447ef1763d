import type { RawObject } from '#base/raw-object.ts'
import { validateKubeletConfiguration } from '#test/verdict.ts'
import type { Family } from './family.ts'

export const kubeletValidation: Family<RawObject> = {
  name: 'kubelet-validation',
  answer: (input, version) => validateKubeletConfiguration(input, version),
}
