/** A forged bucket changes no node, in ten thousand draws. */
import { describeForgeries } from '#test/forgeries.ts'

describeForgeries(10_000)
