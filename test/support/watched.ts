/** Throws where a template names what the view does not have; strict mode alone overlooks the conditions. */
export function watched<T>(value: T, path = 'view'): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value as object, {
    get(target, key) {
      if (typeof key === 'string' && !(key in target))
        throw new Error(`${path}.${key} is not in the view`)
      return watched(Reflect.get(target, key), `${path}.${String(key)}`)
    },
  }) as T
}
