import { logRotationOvershoot } from '#judge/rules/logs/log-rotation-overshoot.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const running = (name: string) => ({ name, image: 'app:1', state: { running: {} } })

const pod = {
  metadata: { namespace: 'shop', name: 'web' },
  status: { containerStatuses: [running('web'), running('proxy')] },
}

itJudgesExamples(logRotationOvershoot, {
  bad: { configuration: { containerLogMaxSize: '10Gi', containerLogMaxFiles: 5 }, pods: [pod] },
  good: { configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 }, pods: [pod] },
})
