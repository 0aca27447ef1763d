/** A forged bucket changes no node, in as many draws as take seconds. FORGERIES=2000 draws more; test/e2e/forgery.test.ts draws 10,000. */
import { describeForgeries } from '#test/forgeries.ts'

describeForgeries(Number(process.env.FORGERIES ?? 500))
