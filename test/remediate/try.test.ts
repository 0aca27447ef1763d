import { it } from 'vitest'
import { inspect, platforms } from '#test/node-root.ts'
import * as roots from '#test/node-roots.ts'
it('x', () => {
  for (const p of platforms()) for (const [n, doc, r] of [['al2023','Highwater-Inspect', roots.al2023({'40-nodeadm.conf': '{"maxPods":3}', 'b.txt': 'x'})], ['al2','Highwater-Inspect', roots.al2()], ['ubuntu','Highwater-Inspect', roots.ubuntu()], ['br','Highwater-InspectBottlerocket', roots.bottlerocket()]] as const) {
    const t = Date.now()
    const run = inspect(doc, r, p)
    console.log(p.name, n, run.status, Date.now() - t, 'ms', run.stderr.slice(0, 2000))
    try { const v = JSON.parse(run.stdout); if (p.name === 'dash') console.log(JSON.stringify(v, null, 1)); else console.log(JSON.stringify(v.host.unread)) } catch (e) { console.log('BAD', run.stdout.slice(0, 500)) }
    if (run.stdout.includes('hunter2')) console.log('SECRET', run.stdout.match(/.{80}hunter2.{20}/g))
  }
}, 120000)
