// The plan of a query as a tree, with what was expected and what was met, and an index made for it.
import {button, count, el, fill, say, text, visible} from './dom.js'
import {get, path, post, repeat} from './api.js'
import {line} from './json.js'

/**
 * @param proposes Whether an index is proposed, by what was measured.
 * @param made Called when the index is made.
 */
export async function showPlan(place, store, wanted, signal, proposes = () => true, made = () => {}) {
  const plan = await explain(store, wanted, signal)
  fill(place, heading(place, 'Plan'), planOf(plan, plan.measured && proposes(plan.measured) && (async () => {
    await makeIndex(place, store, wanted, plan, signal)
    await made()
  })))
}

/** The head of what is shown in a place until it is closed. */
export function heading(place, title) {
  return el('div', {class: 'row'}, el('h2', {tabindex: '-1'}, title), button('Close', () => fill(place), {class: 'quiet'}))
}

async function explain(store, wanted, signal) {
  const body = new Map(wanted)
  body.set('execution_stats', true)
  return (await post(path(store, '_explain'), line(body), signal)).plan
}

/** Makes the index that would help, and shows the plans before and after it side by side. */
async function makeIndex(place, store, wanted, before, signal) {
  const progress = el('progress', {'aria-label': 'Progress of the index'})
  const note = el('p', {role: 'status'}, 'Making the index… ', progress)
  place.append(note)
  const build = () => post(path(store, '_index'), before.suggestedIndex, signal)
  await watched(progress, store, signal, build).finally(() => note.remove())
  const after = await explain(store, wanted, signal)
  const hasFocus = place.contains(document.activeElement)
  fill(place, heading(place, 'Plan before and after the index'), el('div', {class: 'beside'},
    el('section', {'aria-label': 'Before'}, el('h3', {}, 'Before'), planOf(before)),
    el('section', {'aria-label': 'After'}, el('h3', {}, 'After'), planOf(after))))
  if (hasFocus) place.querySelector('h2').focus()
  say('The index is made.')
}

/** Builds an index, and shows how far that is. Those who are not server admins don't see it. */
export async function watched(progress, store, signal, build) {
  const watching = new AbortController()
  const done = AbortSignal.any([signal, watching.signal])
  repeat(300, done, async () => {
    const task = (await get('/_active_tasks', done)).find(task => task.type === 'indexer' && task.database === store)
    if (!task?.total_changes) return
    progress.max = task.total_changes
    progress.value = task.changes_done
  }).catch(() => {})
  try {
    await build()
  } finally {
    watching.abort()
  }
}

function planOf(plan, make = null) {
  const {measured, groups} = plan
  return el('div', {class: 'plan'},
    // A reader from whom rules withhold documents gets no numbers.
    measured ? el('p', {class: 'time'}, `${measured.milliseconds.toFixed(1)} ms; ${count(measured.results, groups ? 'group' : 'result')}`)
      : el('p', {}, 'What was read tells of documents that you may not see.'),
    el('ul', {class: 'branches'},
      measured ? source(measured.source) : node(text(plan.source), ''),
      measured?.unindexed > 0 && node('Not in the index yet', `${count(measured.unindexed, 'document')}, decided by the matcher`),
      node('The matcher', matcher(plan)),
      groups && node('Groups', `made ${groups}`),
      plan.order && node('Order', plan.order),
      measured && node(groups ? 'Read' : 'Read for this page', `${count(measured.keys_examined, 'index row')}, ${count(measured.docs_examined, 'document')}`),
      plan.covered && !groups && node('Covered', 'ids and counts come from the index alone')),
    others(plan),
    make && measured.suggested && el('p', {class: 'notice edits'}, `An index on ${fields(measured.suggested)} would help. `, button('Make this index', make, {class: 'admins'})),
    plan.sql && el('details', {}, el('summary', {}, 'SQL'), plan.sql.map(sql => el('pre', {class: 'json', tabindex: '0', 'aria-label': 'SQL'}, sql))))
}

function node(title, value, ...children) {
  return el('li', {}, el('strong', {}, title), ' ', value, children)
}

function source(part) {
  const counts = ({rows, documents}, isIndex) => isIndex ? `${count(rows, 'row')}, ${count(documents, 'document')}` : count(documents, 'document')
  const isIndex = part.index !== null || !!part.parts
  const [estimated, actual] = [part.estimated, part.actual].map(numbers => counts(numbers, isIndex))
  return node(text(part.source), el('span', {class: 'counts'}, el('span', {}, `estimated ${estimated}`), ' ', el('span', {}, `actual ${actual}`)),
    part.parts && el('ul', {}, part.parts.map(source)))
}

function matcher({residual, measured}) {
  if (!measured) return [`decided `, el('code', {}, text(residual, 600))]
  if (residual === 'nothing') return `decided nothing; ${count(measured.matched, 'document')} match`
  return [`decided `, el('code', {}, text(residual, 600)), ` of ${count(measured.candidates, 'document')}; ${measured.matched.toLocaleString('en')} match`]
}

function others({indexes = []}) {
  const unused = indexes.filter(index => !index.used)
  return unused.length > 0 && el('div', {}, el('h3', {}, 'Indexes not used'),
    el('ul', {}, unused.map(({name, reason}) => el('li', {}, el('strong', {}, text(name, 120)), ': ', text(reason)))))
}

function fields(suggested) {
  return suggested.map(field => Object.entries(field)[0]).map(([name, direction]) => visible(name, 120) + (direction === 'desc' ? ' (descending)' : '')).join(', ')
}
