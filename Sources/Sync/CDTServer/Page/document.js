// One document: its text, its attachments and its revisions, and how it is changed.
import {answered, append, button, confirmed, count, during, edits, el, fill, say, sayNext, shortRevision, text, visible} from './dom.js'
import {called, get, repeat, post, path, Refusal, revisions, save, send, userOf, winner} from './api.js'
import {line, parse, pretty, shortened} from './json.js'
import {copyJSON, jsonView} from './jsonview.js'
import {editor} from './editor.js'
import {addressOf, showAttachments, unnamable} from './attachments.js'
import {arrivalText, commonAncestor, showRevisions} from './revisions.js'
import {attachmentsOf, contestedKeys, isSame, merge} from './merge.js'
import {showRules} from './rules.js'
import {link, mayLeave} from './router.js'

/** Longer strings are cut where they are shown, and longer documents are not edited here. */
const longestString = 2_000
const longestText = 200_000
const longestEdit = 1_000_000

export async function showDocument({main, store, parameters, signal}) {
  if (parameters.has('new')) return showNew(main, store, parameters.get('like'), signal)
  const id = parameters.get('id') ?? ''
  const rev = parameters.get('rev')
  const leaves = await revisions(store, id, null, signal)
  const best = await winner(store, id, signal)
  const shown = rev ? (await revisions(store, id, [rev], signal))[0] : best ?? leaves[0]
  const heading = el('h1', {}, text(id || '(empty)', 200))
  if (!shown) {
    const user = userOf(store)
    fill(main, heading, el('p', {}, user ? [text(called(user)), ` does not see this ${rev ? 'revision' : 'document'}, or it does not exist.`]
      : rev ? 'This revision is not there, or its content was compacted.' : 'There is no such document.'))
    if (!leaves.length) return
  }
  const living = livingOf(leaves)
  fill(main, heading)
  if (living.length > 1) {
    append(main, el('p', {class: 'notice'}, `This document has a conflict: ${count(living.length, 'revision')} are current. `,
      button('Merge them', () => mergeLeaves(main, store, best, living), edits(id))))
  }
  const beside = el('div')
  // The newest revision that is known here: that which is shown, or one with attachments that were changed while it is edited.
  const newest = {doc: shown, rev: best?.get('_rev')}
  const section = shown && content(store, id, shown, best, newest)
  append(main, el('div', {class: 'halves'}, el('div', {}, section), beside))
  const attachments = el('div')
  const list = () => fill(attachments, showAttachments(store, newest.doc, shown.get('_rev') === best?.get('_rev'), signal, async (rev, said) => {
    newest.rev = rev
    // Another view may be shown by now.
    if (!section.isConnected) return say(said)
    if (!section.querySelector('form')) {
      sayNext(said)
      return reload()
    }
    newest.doc = (await revisions(store, id, [rev], signal))[0] ?? newest.doc
    list()
    say(said)
  }))
  if (shown) append(beside, list())
  append(beside, await showRules(store, id, signal))
  append(beside, await showRevisions(store, id, leaves, best, signal))
  await follow(store, id, newest, signal)
}

function livingOf(leaves) { return leaves.filter(leaf => leaf.get('_deleted') !== true) }

/** Tells when somebody else has changed the document. */
async function follow(store, id, newest, signal) {
  await repeat(3000, signal, async () => {
    const known = newest.rev
    const [row] = (await post(path(store, '_all_docs'), {keys: [id]}, signal)).rows
    const rev = row.error || row.value.deleted ? undefined : row.value.rev
    // What is being written here is known when that ends.
    if (rev === known || known !== newest.rev || signal.aborted || document.querySelector('main [aria-disabled="true"]')) return
    // Each change is said once.
    newest.rev = rev
    say('The document was changed meanwhile; load the page again to see it.')
  })
}

function content(store, id, shown, best, newest) {
  const isWinner = shown.get('_rev') === best?.get('_rev')
  const plain = withoutHistory(shown)
  // The attachments have a list of their own.
  const seen = new Map([...plain].filter(([name]) => name !== '_attachments'))
  const whole = pretty(seen)
  const section = el('section', {'aria-labelledby': 'content'})
  const view = el('div')
  const write = (value, limit) => fill(view, jsonView(value, {limit, id: 'document-json', 'aria-labelledby': 'content'}))
  const more = whole.length > longestText && button(`Show all ${whole.length.toLocaleString('en')} characters`, () => {
    write(seen, Infinity)
    more.hidden = true
  })
  write(more ? shortened(seen, longestString) : seen, longestText)
  const edit = button('Edit', () => {
    checkLength(whole)
    fill(section, el('h2', {id: 'content'}, 'Edit'), form(plain, doc => {
      if (doc.get('_id') !== id) {
        throw new Refusal(400, 'bad_request', "The id of a document can't be changed; add a document instead.")
      }
      return saveEdited(section, store, id, newest.doc, rebased(doc, shown, newest.doc))
    }, () => { if (mayLeave()) reload() }))
    section.querySelector('textarea').focus()
  }, edits(id))
  const deletion = button('Delete', () => remove(store, id, shown), edits(id))
  append(section, el('div', {class: 'row'}, el('h2', {id: 'content'}, isWinner ? 'Content' : `Content of ${shortRevision(shown.get('_rev'))}`),
    isWinner && edit, copyJSON(seen), isWinner && el('a', {class: 'button edits', href: link(store, 'document', {new: '1', like: id})}, 'Use as template'),
    isWinner && deletion, more), view)
  return section
}

function checkLength(text) {
  if (text.length > longestEdit) throw new Error('The document is too long to be edited here; use cdtquery get and cdtquery put.')
}

/** The document as it is edited: without the history that came with it. */
function withoutHistory(doc) {
  const plain = new Map(doc)
  plain.delete('_revisions')
  return plain
}

function form(plain, action, cancel) {
  const field = editor({label: 'The document as JSON', value: pretty(plain), rows: 20})
  const submit = el('button', {}, 'Save')
  const element = el('form', {
    oninput: () => { element.dataset.unsaved = '' },
    onsubmit: event => {
      event.preventDefault()
      during(submit, async () => {
        field.clear()
        let doc
        try {
          doc = parse(field.value)
          if (!(doc instanceof Map)) throw new Error('A document is an object in braces.')
        } catch (error) {
          return field.fail(error)
        }
        try {
          await action(doc, field.value)
          delete element.dataset.unsaved
        } catch (error) {
          if (!(error instanceof Refusal) || error.status === 409) throw error
          field.fail(error)
        }
      })
    },
  }, field.element, el('p', {class: 'row'}, submit, button('Cancel', cancel)))
  return element
}

/** An edited document, with the changes of attachments that were made in the list since the text began. */
function rebased(doc, before, now) {
  if (now === before || doc.get('_rev') !== before.get('_rev')) return doc
  const [attachments, old, current] = [new Map(doc.get('_attachments')), attachmentsOf(before), attachmentsOf(now)]
  for (const name of new Set([...old.keys(), ...current.keys()])) {
    if (!isSame(attachments.get(name), old.get(name))) continue
    if (current.has(name)) attachments.set(name, current.get(name))
    else attachments.delete(name)
  }
  return new Map(doc).set('_rev', now.get('_rev')).set('_attachments', attachments)
}

function reload() { dispatchEvent(new Event('reload')) }

/** A random UUID. Without TLS, a page of another machine has no `crypto.randomUUID`. */
function randomId() {
  const digit = () => (crypto.getRandomValues(new Uint8Array(1))[0] % 16).toString(16)
  return '????????-????-4???-8???-????????????'.replace(/\?/g, digit)
}

/** @param like The id of a document whose fields the new one begins with. */
async function showNew(main, store, like, signal) {
  await get(path(store), signal)
  const template = like === null ? null : await winner(store, like, signal)
  const fields = [...template ?? []].filter(([name]) => !name.startsWith('_'))
  checkLength(pretty(new Map(fields)))
  const editing = form(new Map([['_id', randomId()], ...fields]), async (doc, text) => {
    const [row] = await save(store, text).catch(async error => {
      const id = doc.get('_id')
      if (error.status !== 409 || !await winner(store, id)) throw error
      const taken = new Refusal(400, 'conflict', '_id: a document with this id exists; choose another id, or change that document.')
      throw Object.assign(taken, {remedy: el('a', {href: link(store, 'document', {id})}, 'Show it')})
    })
    if (!editing.isConnected) return say('Saved.')
    location.hash = link(store, 'document', {id: row.id})
  }, () => { location.hash = like === null ? link(store, 'documents') : link(store, 'document', {id: like}) })
  fill(main, el('h1', {}, 'Add a document'), like !== null && el('p', {}, template ? ['With the fields of ', text(like, 200), ', without its attachments.'] : ['There is no document ', text(like, 200), '.']), editing)
  main.querySelector('textarea').focus()
}

async function saveEdited(section, store, id, shown, doc, others = []) {
  let row
  try {
    [row] = await save(store, line(doc))
  } catch (error) {
    if (error.status !== 409) throw error
    return resolve(section, store, id, shown, doc)
  }
  await copyAttachments(store, id, row.rev, others)
  // Another view may be shown by now.
  if (!section.isConnected) return say('Saved.')
  sayNext('Saved.')
  reload()
}

/** Somebody else has saved the document since it was read: shows both, field by field. */
async function resolve(section, store, id, shown, mine) {
  const theirs = await winner(store, id)
  if (!section.isConnected) throw new Error('The document was changed meanwhile, and your text is not saved.')
  if (!theirs) throw new Error('The document was deleted meanwhile. Add it again if you want to keep your text.')
  const versions = [{title: 'Yours', value: mine, rev: shown.get('_rev')}, {title: `Theirs, ${shortRevision(theirs.get('_rev'))}`, note: arrivalText(theirs), value: theirs, rev: theirs.get('_rev')}]
  const choices = merge(versions, withoutHistory(shown), async (merged, attachments) => {
    const others = takeAttachments(merged, theirs, versions, attachments)
    merged.set('_id', id)
    merged.set('_rev', theirs.get('_rev'))
    await saveEdited(section, store, id, theirs, merged, others)
  })
  choices.dataset.unsaved = ''
  fill(section, el('h2', {id: 'content'}, 'The document was changed meanwhile'),
    el('p', {role: 'alert'}, 'Somebody else has saved it since you began. Choose for each field what to keep; fields that are the same in both are kept.'),
    choices)
  section.querySelector('input')?.focus()
}

/** Gives a merged document the attachments of the revision that it follows but for the chosen ones; returns those to copy. */
function takeAttachments(merged, parent, versions, chosen) {
  const attachments = new Map(attachmentsOf(parent))
  const others = []
  for (const [name, number] of chosen) {
    const {value, rev} = versions[number]
    const stub = attachmentsOf(value).get(name)
    if (!stub) attachments.delete(name)
    else if (stub.has('data')) attachments.set(name, stub)
    else if (rev !== parent.get('_rev')) others.push({name, rev, type: stub.get('content_type')})
  }
  if (attachments.size) merged.set('_attachments', attachments)
  return others
}

/** Copies attachments of other revisions of a document to one that was just saved. */
async function copyAttachments(store, id, saved, others) {
  let rev = saved
  for (const {name, rev: source, type} of others) {
    const address = of => addressOf(store, new Map([['_id', id]]), name, of)
    try {
      if (!address(rev)) throw new Error(unnamable(name))
      const body = await (await send('GET', address(source))).blob()
      rev = (await (await send('PUT', address(rev), {body, headers: {'Content-Type': type}})).json()).rev
    } catch (error) {
      throw new Error(`The document is saved, but the attachment ${visible(name)} of ${shortRevision(source)} is not copied: ${error.message}`)
    }
  }
}

/** Merges the leaves of a conflict into one revision: it follows the winner, and the others are deleted. */
async function mergeLeaves(main, store, best, living) {
  const id = best.get('_id')
  const others = living.filter(leaf => leaf.get('_rev') !== best.get('_rev'))
  const versions = [best, ...others].map(leaf => {
    const rev = leaf.get('_rev')
    return {title: leaf === best ? `Winner, ${shortRevision(rev)}` : shortRevision(rev), note: arrivalText(leaf), value: leaf, rev}
  })
  const ancestor = commonAncestor(living)
  const base = ancestor ? (await revisions(store, id, [ancestor]))[0] ?? null : null
  const choices = merge(versions, base, async (merged, attachments) => {
    const copies = takeAttachments(merged, best, versions, attachments)
    merged.set('_id', id)
    merged.set('_rev', best.get('_rev'))
    // Revisions that are sent together are saved each for itself: nothing may be deleted before the merged one is there.
    const [row] = await save(store, line(merged)).catch(error => {
      if (error.status !== 409) throw error
      throw new Error('The document was changed meanwhile, and nothing is merged. Load the page again to merge what is there now.')
    })
    await copyAttachments(store, id, row.rev, copies)
    const deletions = others.map(leaf => line(new Map([['_id', id], ['_rev', leaf.get('_rev')], ['_deleted', true]])))
    const failure = await save(store, ...deletions).then(() => null, error => error)
    const reason = failure?.status === 409 ? 'somebody else has changed it meanwhile.' : failure?.message
    const result = failure ? `The merged document is saved, but another revision is not deleted: ${reason}` : 'The conflict is resolved.'
    if (!choices.isConnected) return say(result)
    sayNext(result)
    reload()
  })
  fill(main, el('h1', {}, text(id, 200)),
    el('p', {}, 'Choose for each field what to keep. The merged document follows the winner, and the other revisions are deleted.'),
    el('p', {}, base ? contestedKeys(versions.map(version => version.value), base).size
      ? 'What only one of them has changed since their common ancestor is chosen already. Rows with a mark were changed to different values.'
      : 'Nothing was changed to different values since their common ancestor: each change is chosen already.'
      : 'The revision that they come from is not stored any more, so the winner is chosen.'), choices)
}

/** In a conflict, the next winner takes the place of the revision that is deleted. */
async function remove(store, id, shown) {
  const current = livingOf(await revisions(store, id)).length
  const isSure = current > 1 ? await answered('Delete this revision of the document?', 'Delete', el('p', {}, text(id, 200)),
    el('p', {}, `The document has a conflict of ${count(current, 'revision')}: if you delete this one, another one becomes the document. `,
      'To delete it as a whole, cancel and merge them first.'))
    : await confirmed('Delete the document?', id)
  if (!isSure) return
  try {
    await save(store, line(new Map([['_id', id], ['_rev', shown.get('_rev')], ['_deleted', true]])))
  } catch (error) {
    if (error.status !== 409) throw error
    throw new Error('The document was changed meanwhile, and is not deleted. Load the page again to see it.')
  }
  const next = await winner(store, id)
  const [deleted, now] = [shown, next].map(doc => doc && shortRevision(doc.get('_rev')))
  sayNext(now ? `Deleted ${deleted}. The document is now ${now}, which was in conflict with it.` : 'Deleted.')
  location.hash = next ? link(store, 'document', {id}) : link(store, 'documents')
  // Also if the address is the same.
  if (next) reload()
}
