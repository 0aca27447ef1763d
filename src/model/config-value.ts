import { isRawObject, type RawObject } from './record.ts'

/** Whether a configuration value is a map of keys, as `evictionHard` and `kubeReserved` are. */
export const isMap = (value: unknown): value is RawObject => isRawObject(value)

/** A configuration value as a map of keys, `evictionHard` or `kubeReserved`; of a value that is no map the empty one. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})
