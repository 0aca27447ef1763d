export async function handler(event: unknown) { return { event, v: process.version } }
