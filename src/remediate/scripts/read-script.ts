import { readAsset } from '#asset.ts'

/** The scripts lie beside this file. */
export const readScript = (file: string) => readAsset(`src/remediate/scripts/${file}`)
