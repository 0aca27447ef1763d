const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** For sentences: `16.0 GiB`, `512 bytes`. */
export function bytesText(count: number) {
  let scaled = Math.abs(count)
  let unit = -1
  // From 1023.95 on, rounding would show 1024.0 of the smaller unit.
  while (scaled >= (unit < 0 ? 1024 : 1023.95) && unit < units.length - 1) {
    scaled /= 1024
    unit++
  }
  return unit < 0 ? `${count} bytes` : `${count < 0 ? '-' : ''}${scaled.toFixed(1)} ${units[unit]}`
}
