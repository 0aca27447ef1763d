/** Files that are read at run time: in a clone where they are, in the compiled package out of `dist/assets.br`. */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

const isCompiled = () => import.meta.url.endsWith('.js')
let packed: Record<string, string> | null = null

/** @param path from the root of the clone */
export function readAsset(path: string): string {
  if (!isCompiled()) return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  packed ??= JSON.parse(
    brotliDecompressSync(readFileSync(new URL('./assets.br', import.meta.url))).toString(),
  ) as Record<string, string>
  const text = packed[path]
  if (text === undefined) throw new Error(`${path} is not in the package`)
  return text
}

/** A program that Node starts by its file. @param path likewise, without `.ts` */
export const programUrl = (path: string): URL =>
  new URL(isCompiled() ? `./${path}.js` : `../${path}.ts`, import.meta.url)
