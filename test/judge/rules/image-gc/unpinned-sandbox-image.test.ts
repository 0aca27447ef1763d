import { unpinnedSandboxImage } from '#judge/rules/image-gc/unpinned-sandbox-image.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const pause = '602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10'

const node = (pinned: boolean) => ({
  runtime: { images: [{ id: 'sha256:ed210e3e', repoTags: [pause], repoDigests: [], pinned }] },
  host: { containerd: { sandboxImage: pause } },
})

itJudgesExamples(unpinnedSandboxImage, { bad: node(false), good: node(true) })
