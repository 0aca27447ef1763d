/** The gate on pull requests as people write them: what stops each, by file and line. */
import { expect, it } from 'vitest'
import { briefSnapshot, gated } from '#test/gate-changes.ts'
import { type PullRequest, pullRequests } from '#test/pull-requests.ts'

async function outcomeOf({ files, base, group }: PullRequest) {
  const names = new Set([...Object.keys(base ?? {}), ...Object.keys(files)])
  const texts = [...names].map(file => ({
    file,
    text: files[file] ?? '',
    base: base?.[file] ?? null,
  }))
  const { problems, verdict } = await gated(briefSnapshot(), texts, {
    group,
    hasBase: base !== undefined,
  })
  const stops = problems.filter(problem => problem.stops)
  const shown = stops.map(({ file, line, kind }) => `${file}:${line} ${kind}`)
  return { stops: [...new Set(shown)].sort(), isUnread: verdict === 'unread' }
}

it.each(pullRequests)('$name', async pullRequest => {
  const { stops, isUnread = false } = pullRequest
  expect(await outcomeOf(pullRequest)).toEqual({ stops: [...stops].sort(), isUnread })
})
