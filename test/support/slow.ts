/** `npm run test:slow` takes every case of a property; `npm test` and `npm run test:e2e` take a part of them. No name of a setting: functions refuse unknown ones. */
export const isSlow = process.env.SLOW_TESTS !== undefined

/** How often a property is tried. @param nightly by `npm run test:slow` */
export const drawsOf = (nightly: number): number => (isSlow ? nightly : Math.ceil(nightly / 4))
