import { jobWithoutTtl } from '#judge/rules/cluster-gc/job-without-ttl.ts'
import { jobExamples } from '#test/examples/job-without-ttl.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(jobWithoutTtl, jobExamples)
