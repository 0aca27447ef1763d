import { unwatchedImagefs } from '#judge/rules/eviction/unwatched-imagefs.ts'
import { hard } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(unwatchedImagefs, {
  bad: { filesystems: { layout: 'imagefs' }, thresholds: [hard('nodefs.available', 10)] },
  good: {
    filesystems: { layout: 'imagefs' },
    thresholds: [hard('nodefs.available', 10), hard('imagefs.available', 10)],
  },
})
