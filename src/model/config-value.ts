import { isRawObject, type RawObject } from './record.ts'

/** A configuration value as a map of keys, `evictionHard` or `kubeReserved`; of a value that is no map the empty one. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})
