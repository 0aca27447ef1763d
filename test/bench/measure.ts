/** How a part of the benchmark is measured, and what a row of it says. */
import { performance } from 'node:perf_hooks'

export interface Row {
  /** What ran: ours, or the peer beside it. */
  name: string
  nodes: number
  runs: number
  /** Medians of all runs. */
  wallMs: number
  cpuMs: number
  peakRssBytes: number
  requests: number
  bodyBytes: number
}

/** The median of several runs of `work` on `nodes` of them, after one that only warms up. */
export function measured(name: string, nodes: number, runs: number, work: () => void): Row {
  work()
  const samples = Array.from({ length: runs }, () => {
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    work()
    const wallMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(cpu)
    return { wallMs, cpuMs: (user + system) / 1000 }
  })
  return {
    name,
    nodes,
    runs,
    wallMs: median(samples.map(({ wallMs }) => wallMs)),
    cpuMs: median(samples.map(({ cpuMs }) => cpuMs)),
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    requests: 0,
    bodyBytes: 0,
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
