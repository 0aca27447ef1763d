/** `npm run test:slow` takes every case of a property; `npm test` and `npm run test:e2e` take a part of them. */
export const isSlow = process.env.HIGHWATER_SLOW !== undefined
