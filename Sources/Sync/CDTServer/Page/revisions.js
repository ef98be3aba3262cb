// The tree of a document's revisions, and two of them compared.
import {button, count, el, fill, revision, shortRevision, svg, table, tell, text} from './dom.js'
import {revisions} from './api.js'
import {line} from './json.js'
import {differences, leavesOf, pathText, valueText} from './merge.js'
import {link} from './router.js'
import {arrivalOf} from './times.js'

const laneWidth = 16
const rowHeight = 32
/** More are not drawn, and so many are drawn at first. */
const maximumRows = 300
const firstRows = 30
/** The times of earlier revisions come with their contents, of which no more than so many characters are read. */
const longestRead = 4_000_000

export function showRevisions(store, id, leaves, best, signal) {
  const all = rowsOf(leaves, best)
  const rows = all.slice(0, maximumRows)
  const length = Math.max(...leaves.map(leaf => line(leaf).length))
  const chosen = {A: null, B: null}
  const result = el('div', {role: 'region', 'aria-label': 'Comparison', 'aria-live': 'polite'})
  const compare = button('Compare A with B', async () => {
    if (!chosen.A || !chosen.B) throw new Error('Choose two revisions, A and B.')
    const found = await Promise.all([chosen.A, chosen.B].map(async rev => (await revisions(store, id, [rev], signal))[0]))
    const missing = found.findIndex(revision => !revision)
    if (missing >= 0) throw new Error(`The content of revision ${shortRevision(missing ? chosen.B : chosen.A)} was compacted.`)
    fill(result, comparison(found))
  })
  const lanes = Math.max(1, ...rows.map(row => row.lane + 1))
  const pick = (letter, rev) => el('input', {
    type: 'radio', name: `revision-${letter}`, 'aria-label': `${letter}: ${rev}`, checked: chosen[letter] === rev, onchange: () => { chosen[letter] = rev },
  })
  const written = new Map(rows.map(row => [row.rev, el('span', {}, arrivalOf(row.leaf ?? {}))]))
  const readTimes = async shown => {
    const wanted = shown.filter(row => !row.leaf).slice(0, Math.floor(longestRead / length)).map(row => row.rev)
    for (const doc of wanted.length ? await revisions(store, id, wanted, signal) : []) fill(written.get(doc.get('_rev')), arrivalOf(doc))
  }
  const list = el('div')
  const show = number => {
    const shown = rows.slice(0, number)
    fill(list, table('The tree, newest first', ['Tree', 'Revision', 'State', 'A', 'B', 'Written'], shown.map((row, at) => [
      drawing(rows, at, lanes), el('a', {href: link(store, 'document', {id, rev: row.rev})}, revision(row.rev)),
      row.state, pick('A', row.rev), pick('B', row.rev), written.get(row.rev),
    ])), rows.length > number && button(`Show ${count(rows.length - number, 'older revision')}`, () => show(rows.length)))
    readTimes(number > firstRows ? shown.slice(firstRows) : shown).catch(tell)
  }
  show(firstRows)
  return el('section', {'aria-labelledby': 'revisions'}, el('h2', {id: 'revisions'}, 'Revisions'), list,
    all.length > maximumRows && el('p', {}, `${all.length - maximumRows} older revisions are not drawn.`),
    rows.length > 1 && el('p', {class: 'row'}, compare), result)
}

/** The ids of a leaf and of its ancestors, newest first. */
export function historyOf(leaf) {
  const {start, ids} = Object.fromEntries(leaf.get('_revisions') ?? [['start', 0], ['ids', []]])
  return ids.length ? ids.map((digest, number) => `${start - number}-${digest}`) : [leaf.get('_rev')]
}

/** The id of the newest revision from which all of some leaves come; undefined if there is none. */
export function commonAncestor(leaves) {
  const [first, ...others] = leaves.map(historyOf)
  return first.find(rev => others.every(history => history.includes(rev)))
}

/** The revisions of the tree by generation, newest first, each in the lane of its leaf. */
function rowsOf(leaves, best) {
  const winner = best?.get('_rev')
  const ordered = [...leaves].sort((a, b) => (b.get('_rev') === winner) - (a.get('_rev') === winner))
  const known = new Map()
  for (const [lane, leaf] of ordered.entries()) {
    const history = historyOf(leaf)
    for (const [number, rev] of history.entries()) {
      const parent = history[number + 1] ?? null
      if (known.has(rev)) break
      const isDeleted = number === 0 && leaf.get('_deleted') === true
      const state = number > 0 ? '' : rev === winner ? 'winner' : isDeleted ? 'deleted leaf' : 'conflict'
      known.set(rev, {rev, parent, lane, state, leaf: number ? null : leaf, isLeaf: number === 0, isDeleted, generation: parseInt(rev)})
    }
  }
  return [...known.values()].sort((a, b) => b.generation - a.generation || a.lane - b.lane)
}

/** The part of the tree that is beside a row: the lines that pass, and the circle of the revision. */
function drawing(rows, number, lanes) {
  const row = rows[number]
  const x = lane => lane * laneWidth + laneWidth / 2
  const middle = rowHeight / 2
  const position = new Map(rows.map((other, at) => [other.rev, at]))
  const parts = []
  for (const [at, child] of rows.entries()) {
    const parentAt = position.get(child.parent)
    if (parentAt === undefined || number < at || number > parentAt) continue
    const parent = rows[parentAt]
    const from = number === at ? middle : 0
    if (number < parentAt) parts.push(svg('path', {d: `M${x(child.lane)} ${from}V${rowHeight}`}))
    else parts.push(svg('path', {d: `M${x(child.lane)} ${from}Q${x(child.lane)} ${middle} ${x(parent.lane)} ${middle}`}))
  }
  const kind = row.isDeleted ? 'deleted' : row.isLeaf ? 'leaf' : 'inner'
  parts.push(svg('circle', {cx: x(row.lane), cy: middle, r: row.state === 'winner' ? 6 : 4.5, class: `${kind} ${row.state === 'winner' ? 'winner' : ''}`}))
  const width = lanes * laneWidth
  return svg('svg', {class: 'tree', width, height: rowHeight, viewBox: `0 0 ${width} ${rowHeight}`, 'aria-hidden': 'true'}, ...parts)
}

function comparison([left, right]) {
  const names = [left, right].map(doc => shortRevision(doc.get('_rev')))
  const [leftFields, rightFields] = [leavesOf(left), leavesOf(right)]
  const keys = differences([left, right])
  if (!keys.length) return el('p', {}, 'The fields of both revisions are the same.')
  return table(`${names[0]} and ${names[1]}`, ['Field', `A ${names[0]}`, `B ${names[1]}`], keys.map(key => [
    text(pathText(key), 120), valueText(leftFields.get(key)), valueText(rightFields.get(key)),
  ]))
}
