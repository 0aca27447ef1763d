import { readFileSync } from 'node:fs'

/** The scripts lie beside this file. */
export const readScript = (file: string): string =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
