/** Upstream's own answers, one case after the other, for the versions there are. */
import { readFileSync } from 'node:fs'

const versions = ['v1.29', 'v1.34', 'v1.36'] as const
export type VectorVersion = (typeof versions)[number]

export interface Vector<Input, Expected> {
  name: string
  input: Input
  expected: Expected
}

/** `[version, cases]` of a family, for `describe.each`. */
export function vectors<Input, Expected>(family: string): [VectorVersion, Vector<Input, Expected>[]][] {
  return versions.map(version => [
    version,
    JSON.parse(readFileSync(new URL(`../vectors/${version}/${family}.json`, import.meta.url), 'utf8')) as Vector<Input, Expected>[],
  ])
}
