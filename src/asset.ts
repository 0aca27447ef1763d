/** Files that are read at run time: in a clone where they are, in the compiled package out of `dist/assets.br`. */
import { readFileSync } from 'node:fs'
import { unpackOwn } from '#base/gzip.ts'
import { once } from '#base/once.ts'

const isCompiled = () => import.meta.url.endsWith('.js')
const packed = once(
  (): Record<string, string> =>
    JSON.parse(unpackOwn(readFileSync(new URL('./assets.br', import.meta.url)))),
)

/** @param path from the root of the clone */
export function readAsset(path: string): string {
  if (!isCompiled()) return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  const text = packed()[path]
  if (text === undefined) throw new Error(`${path} is not in the package`)
  return text
}

/** A program that Node starts by its file. @param path likewise, without `.ts` */
export const programUrl = (path: string): URL =>
  new URL(isCompiled() ? `./${path}.js` : `../${path}.ts`, import.meta.url)
