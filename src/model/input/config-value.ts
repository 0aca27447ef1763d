import { isRawObject, type RawObject } from '#base/raw-object.ts'

/** Whether a configuration value is a map, like `evictionHard` and `kubeReserved`. */
export const isMap = (value: unknown): value is RawObject => isRawObject(value)

/** A configuration value as a map. For a value that is not a map: the empty map. */
export const mapOf = (value: unknown): RawObject => (isRawObject(value) ? value : {})
