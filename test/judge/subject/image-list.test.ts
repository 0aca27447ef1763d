import { expect, it } from 'vitest'
import { isImageListCut } from '#judge/subject/node-subject.ts'

const listed = (count: number) => ({
  status: { images: Array.from({ length: count }, () => ({ names: [] })) },
})

it.each([
  [49, undefined, null, false],
  [50, undefined, null, true],
  [50, undefined, { images: [] }, false],
  [50, undefined, {}, true],
  [50, -1, null, false],
  [50, 100, null, false],
  [0, 0, null, false],
])('%i images listed of at most %s, by a runtime of %j: cut is %s', (count, most, runtime, cut) => {
  const configuration = { nodeStatusMaxImages: most }
  expect(isImageListCut({ runtime, node: listed(count), configuration })).toBe(cut)
})

it('takes the default of a kubelet whose settings were not read', () => {
  expect(isImageListCut({ runtime: null, node: listed(50), configuration: null })).toBe(true)
})
