/** What running highwater costs: the question, and the answer with its bounds (`highwater.cost/1`). */
import type { ReadMode } from './read-mode.ts'

/** How the function reaches AWS and the clusters: without a VPC, through a NAT gateway that is there anyway, or through endpoints of its own. */
export const networks = ['public', 'nat', 'endpoints'] as const
export type Network = (typeof networks)[number]

export interface CostQuestion {
  nodes: number
  clusters: number
  accounts: number
  runsPerDay: number
  podsPerNode: number
  mode: ReadMode
  network: Network
  recipients: number
  /** How long reports are kept. */
  retentionDays: number
  memoryMiB: number
}

/** Certain where both are the same. */
export interface Bounds {
  least: number
  most: number
}

export interface CostLine {
  service: string
  /** What is paid for. */
  what: string
  /** In a month. */
  quantity: Bounds
  unit: string
  usd: Bounds
}

export interface RunEstimate {
  /** Of one run, from its tick to its mail. */
  seconds: Bounds
  /** What holds it up. */
  boundBy: 'the pace of the API servers' | 'the pace of SSM' | 'the processor'
  peakMiB: number
  /** Requests to all API servers, and calls of SSM. */
  kubernetesRequests: number
  ssmCalls: Bounds
  /** What comes in from clusters and AWS. */
  bytes: Bounds
  /** What is to be known of it: it does not fit, or not by itself. */
  remarks: string[]
}

/** What is paid for a run that many functions share. */
export interface FanOutEstimate {
  run: RunEstimate
  /** Of a run: of all its functions together. */
  invocations: Bounds
  functionSeconds: Bounds
  stateTransitions: Bounds
  lines: CostLine[]
  totalUsd: Bounds
}

export interface CostEstimate {
  schema: 'highwater.cost/1'
  question: CostQuestion
  /** By one function. */
  run: RunEstimate
  lines: CostLine[]
  totalUsd: Bounds
  /** The same by many functions, where the stack has them (`fanOut=on`); null: the service does not hand over so small a fleet. */
  fanOut: FanOutEstimate | null
  prices: { region: string; asOf: string }
  notCounted: string[]
}
