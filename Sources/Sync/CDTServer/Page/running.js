// How the results of a query come: in parts, or live.
import {feed, lines, long, longestSilence, path, Refusal, repeat, send} from './api.js'
import {line, parse} from './json.js'

/** The server replies when it has found all results of a request, so the first ones are asked for alone. */
const firstParts = [10, 40]

/** Adds the results of a request to `docs`, and returns what was read. `starts` has the bookmarks of pages, by their `skip`. */
export async function gather(store, wanted, docs, starts, signal, progress) {
  const [skip, limit] = [wanted.get('skip') ?? 0, wanted.get('limit')]
  const end = {time: 0, documents: 0, keys: 0, warning: null}
  const body = withIds(wanted).set('execution_stats', true)
  goOn(body, skip, starts)
  // In an order, each part could take as long as the whole; with a number of results to skip, each could have another order.
  const parts = wanted.has('sort') || wanted.has('distance') || body.has('skip') ? [] : firstParts
  for (let part = 0; docs.length < limit; part++) {
    const [before, size] = [docs.length, Math.min(parts[part] ?? limit, limit - docs.length)]
    body.set('limit', size)
    let last
    try {
      last = await receive(store, body, wanted, docs, signal, progress)
    } catch (error) {
      if (signal.aborted || before === 0) throw error
      // What was found is kept.
      docs.length = before
      end.warning = `The other results are missing: ${error.message}`
      break
    }
    progress()
    const stats = last.execution_stats
    end.time += stats.execution_time_ms
    end.documents += stats.total_docs_examined
    end.keys += stats.total_keys_examined
    end.warning ??= last.warning
    if (last.bookmark !== 'nil') starts.set(skip + docs.length, last.bookmark)
    if (docs.length - before < size) break
    goOn(body, skip + docs.length, starts)
  }
  return end
}

/** Calls `changed` with the results, and again after each change of them. */
export function follow(store, wanted, signal, changed) {
  return repeat(1000, signal, async answered => {
    const response = await send('POST', `${path(store, '_find')}?${feed}`, {body: line(withIds(wanted)), signal})
    // A feed begins with all results.
    const docs = []
    for await (const {text, isWhole} of lines(response, longestSilence)) {
      if (!text) continue
      if (!isWhole) throw new Error('The results are too long to be shown live; name the fields that you want.')
      answered()
      change(docs, parse(text), doc => entry(wanted, doc))
      changed(docs)
    }
  })
}

/** Changes a list by a difference, as docs/server.md describes it. */
function change(docs, difference, entry) {
  const moves = difference.get('moves')
  const gone = [...difference.get('removals'), ...moves.map(move => move.get('from'))].sort((a, b) => b - a)
  const taken = new Map(gone.map(at => [at, docs.splice(at, 1)[0]]))
  const added = [
    ...difference.get('insertions').map(insertion => ({at: insertion.get('at'), doc: entry(insertion.get('doc'))})),
    ...moves.map(move => ({at: move.get('to'), doc: taken.get(move.get('from'))})),
  ]
  for (const {at, doc} of added.sort((a, b) => a.at - b.at)) docs.splice(at, 0, doc)
  for (const update of difference.get('updates')) docs[update.get('at')] = entry(update.get('doc'))
}

/** The request with the ids of its results, which the page opens. */
function withIds(wanted) {
  const fields = wanted.get('fields')
  return fields && !fields.includes('_id') ? new Map(wanted).set('fields', [...fields, '_id']) : new Map(wanted)
}

/** A result as it is shown. */
function entry(wanted, doc) {
  const id = doc.get('_id')
  if (wanted.get('fields')?.includes('_id') === false) doc.delete('_id')
  return {id, doc}
}

/** Lets a request begin after some results: where the page before has ended, as another plan may have another order. */
function goOn(body, skip, starts) {
  const bookmark = starts.get(skip)
  body.delete('skip')
  body.delete('bookmark')
  if (bookmark) body.set('bookmark', bookmark)
  else if (skip) body.set('skip', skip)
}

/** Adds the results of one part, and returns the end of the reply. */
async function receive(store, body, wanted, docs, signal, progress) {
  const response = await send('POST', path(store, '_find'), {body: line(body), signal})
  let [end, painted] = [null, 0]
  for await (const {text, isWhole, length} of lines(response)) {
    if (text.startsWith(']')) end = JSON.parse('{"docs":[' + text)
    // A result may have a field of this name.
    else if (text === '{"docs":[') continue
    else if (!isWhole) docs.push(long(text, length))
    else docs.push(entry(wanted, parse(text.replace(/,$/, ''))))
    // The results are seen as they come.
    if (performance.now() - painted > 200) {
      progress()
      painted = performance.now()
    }
  }
  if (!end) throw new Refusal(0, 'unreadable', 'The reply of the server has ended early.')
  return end
}
