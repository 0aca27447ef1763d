import type { Incident } from '../incident.ts'
import { aboveIncidents } from './above-and-beside.ts'
import { afieldIncidents } from './afield.ts'
import { besideImageIncidents } from './beside-needed-images.ts'
import { blindIncidents } from './blind.ts'
import { eventIncidents } from './by-events.ts'
import { claimIncidents } from './claims.ts'
import { componentIncidents } from './components.ts'
import { deviceIncidents } from './devices.ts'
import { firstRunIncidents } from './first-run.ts'
import { foreignIncidents } from './foreign.ts'
import { freshIncidents } from './fresh.ts'
import { furtherIncidents } from './further.ts'
import { heldOutIncidents } from './held-out.ts'
import { hostIncidents } from './host.ts'
import { imageIncidents } from './images.ts'
import { inHandIncidents } from './in-hand.ts'
import { laterIncidents } from './later.ts'
import { limitIncidents } from './limits-and-drains.ts'
import { littleDataIncidents } from './little-data.ts'
import { lookedAtTwiceIncidents } from './looked-at-twice.ts'
import { lostIncidents } from './lost-images-and-volumes.ts'
import { mixedIncidents } from './mixed.ts'
import { nearMisses } from './near-misses.ts'
import { newerIncidents } from './newer.ts'
import { noReliefIncidents } from './no-relief.ts'
import { onceMoreIncidents } from './once-more.ts'
import { ordinaryIncidents } from './ordinary.ts'
import { otherCauseIncidents } from './other-causes.ts'
import { outsideIncidents } from './outside.ts'
import { podIncidents } from './pods.ts'
import { rarerIncidents } from './rarer.ts'
import { apiIncidents } from './read-by-api.ts'
import { measuredIncidents } from './read-on-node.ts'
import { reserveIncidents } from './reserves.ts'
import { runtimeIncidents } from './runtime.ts'
import { secondTryIncidents } from './second-tries.ts'
import { strangerIncidents } from './strangers.ts'
import { toldAgainIncidents } from './told-again.ts'
import { toldOnceIncidents } from './told-once.ts'
import { unmetIncidents } from './unmet.ts'
import { unseenIncidents } from './unseen.ts'
import { fittingIncidents } from './what-fits.ts'

export const incidents: readonly Incident[] = [
  ...claimIncidents,
  ...runtimeIncidents,
  ...podIncidents,
  ...hostIncidents,
  ...imageIncidents,
  ...deviceIncidents,
  ...nearMisses,
  ...laterIncidents,
  ...blindIncidents,
  ...unseenIncidents,
  ...furtherIncidents,
  ...reserveIncidents,
  ...apiIncidents,
  ...measuredIncidents,
  ...firstRunIncidents,
  ...onceMoreIncidents,
  ...otherCauseIncidents,
  ...heldOutIncidents,
  ...freshIncidents,
  ...rarerIncidents,
  ...newerIncidents,
  ...littleDataIncidents,
  ...strangerIncidents,
  ...foreignIncidents,
  ...inHandIncidents,
  ...componentIncidents,
  ...unmetIncidents,
  ...mixedIncidents,
  ...outsideIncidents,
  ...limitIncidents,
  ...afieldIncidents,
  ...ordinaryIncidents,
  ...eventIncidents,
  ...secondTryIncidents,
  ...noReliefIncidents,
  ...lookedAtTwiceIncidents,
  ...toldOnceIncidents,
  ...toldAgainIncidents,
  ...lostIncidents,
  ...besideImageIncidents,
  ...aboveIncidents,
  ...fittingIncidents,
]
