/** A forged bucket changes no node: 10,000 draws in `npm run test:slow`, a part of them in `npm test`. */
import { describeForgeries } from '#test/forgeries.ts'
import { isSlow } from '#test/slow.ts'

describeForgeries(isSlow ? 10_000 : 200)
