// One document: its text, its attachments and its revisions, and how it is changed.
import {answered, append, button, confirmed, copyButton, count, edits, el, fill, revision, say, sayNext, sends, shellQuoted, shortRevision, tell, text, visible} from './dom.js'
import {called, get, inConflict, repeat, post, path, Refusal, revisions, save, send, userOf, winner} from './api.js'
import {isNumber, isSame, line, parse, pretty, shortened} from './json.js'
import {jsonView} from './jsonview.js'
import {editor} from './editor.js'
import {valueAt} from './grid.js'
import {addressOf, showAttachments, unnamable} from './attachments.js'
import {commonAncestor, historyOf, showRevisions} from './revisions.js'
import {attachmentsOf, contestedKeys, merge} from './merge.js'
import {showRules} from './rules.js'
import {menuOf} from './menus.js'
import {link} from './router.js'
import {arrivalOf} from './times.js'

/** Longer strings are cut where they are shown, and longer documents are not edited here. */
const longestString = 2_000
const longestText = 200_000
const longestEdit = 1_000_000

/**
 * Shows a document, or the form for a new one.
 *
 * @param main The element that is filled: that of the view, or a panel.
 * @param reload Shows the document again; without it, the view is shown again.
 * @param closed Called with what is to be said when the document is deleted or left; without it, the documents are shown.
 * @param inPanel Whether the main heading is elsewhere.
 */
export async function showDocument({main, store, parameters, signal, reload, closed, inPanel = false}) {
  const place = {
    main, store, signal, inPanel,
    again(said = '') {
      if (!reload) sayNext(said)
      reload ? reload() : dispatchEvent(new Event('reload'))
      if (reload) say(said)
    },
    leave(said = '', address = link(store, 'documents')) {
      if (closed) return closed(said)
      sayNext(said)
      location.hash = address
    },
    heading: content => el(inPanel ? 'h2' : 'h1', {}, content),
  }
  if (parameters.has('new')) return showNew(place, parameters.get('like'))
  const id = parameters.get('id') ?? ''
  const rev = parameters.get('rev')
  const leaves = await revisions(store, id, null, signal)
  const best = await winner(store, id, signal)
  const shown = rev ? (await revisions(store, id, [rev], signal))[0] : best ?? leaves[0]
  const heading = place.heading(text(id || '(empty)', 200))
  const frame = el('div', {class: 'document'})
  fill(main, frame)
  if (!shown) {
    const user = userOf(store)
    fill(frame, heading, el('p', {}, user ? [text(called(user)), ` does not see this ${rev ? 'revision' : 'document'}, or it does not exist.`]
      : rev ? 'This revision is not there, or its content was compacted.' : 'There is no such document.'))
    if (!leaves.length) return
  }
  const living = livingOf(leaves)
  const beside = el('div')
  // The newest revision that is known here: that which is shown, or one with attachments that were changed while it is edited.
  const newest = {doc: shown, rev: best?.get('_rev')}
  const {section, actions, more} = shown ? content(place, id, shown, best, newest) : {}
  if (shown) fill(frame, el('div', {class: 'row head'}, heading, actions))
  if (living.length > 1) {
    append(frame, el('p', {class: 'notice'}, `This document has a conflict: ${count(living.length, 'revision')} are current. `,
      button('Merge them', () => mergeLeaves(place, best, living), edits(id))))
  }
  if (best && shown !== best && shown?.get('_rev') !== best.get('_rev')) {
    append(frame, el('p', {class: 'notice'}, 'This is revision ', revision(shown?.get('_rev') ?? rev), ', not the current one. ',
      el('a', {href: link(store, 'document', {id})}, 'Show the document')))
  }
  append(frame, el('div', {class: 'parts'}, section, beside))
  const attachments = el('div')
  const list = () => fill(attachments, showAttachments(store, newest.doc, shown.get('_rev') === best?.get('_rev'), signal, async (rev, said) => {
    newest.rev = rev
    // Another view may be shown by now.
    if (!section.isConnected) return say(said)
    if (!section.querySelector('form')) return place.again(said)
    newest.doc = (await revisions(store, id, [rev], signal))[0] ?? newest.doc
    list()
    say(said)
  }))
  if (shown) append(beside, list())
  append(beside, showRevisions(store, id, leaves, best, signal), await showRules(store, id, signal))
  if (more) showNearby(place, shown, more).catch(tell)
  await follow(place, id, newest)
}

function livingOf(leaves) { return leaves.filter(leaf => leaf.get('_deleted') !== true) }

/** Tells when somebody else has changed the document. */
async function follow({main, store, signal}, id, newest) {
  await repeat(3000, signal, async () => {
    const known = newest.rev
    const [row] = (await post(path(store, '_all_docs'), {keys: [id]}, signal)).rows
    const rev = row.error || row.value.deleted ? undefined : row.value.rev
    // What is being written here is known when that ends.
    if (rev === known || known !== newest.rev || signal.aborted || main.querySelector('[aria-disabled="true"]')) return
    // Each change is said once.
    newest.rev = rev
    say('The document was changed meanwhile; load the page again to see it.')
  })
}

/** The content, and what can be done with it: `more` is the menu to which links to similar documents are added. */
function content(place, id, shown, best, newest) {
  const {store} = place
  const isWinner = shown.get('_rev') === best?.get('_rev')
  // The attachments have a list of their own.
  const seen = new Map([...shown].filter(([name]) => name !== '_attachments' && name !== '_revisions'))
  const fields = new Map([...seen].filter(([name]) => !name.startsWith('_')))
  const whole = pretty(seen)
  const view = el('div')
  const write = (value, limit) => fill(view, jsonView(value, {limit, id: 'document-json', 'aria-label': 'Content'}))
  const all = whole.length > longestText && button(`Show all ${whole.length.toLocaleString('en')} characters`, () => {
    write(seen, Infinity)
    all.hidden = true
  })
  write(all ? shortened(seen, longestString) : seen, longestText)
  const section = el('section', {'aria-label': 'Content'}, all, view)
  const edit = button('Edit', () => {
    checkLength(whole)
    actions.hidden = true
    const editing = form(fields, doc => {
      if (doc.has('_id') && doc.get('_id') !== id) {
        throw new Refusal(400, 'bad_request', "The id of a document can't be changed; add a document instead.")
      }
      const own = ['_id', '_rev', '_attachments'].filter(name => shown.has(name)).map(name => [name, shown.get(name)])
      return saveEdited(place, section, id, newest.doc, rebased(new Map([...own, ...doc]), shown, newest.doc), [], editing)
    }, () => {
      if (newest.doc !== shown) return place.again()
      fill(section, all, view)
      actions.hidden = false
      edit.focus()
    })
    fill(section, editing)
    section.querySelector('textarea').focus()
  }, {class: `primary ${edits(id).class}`})
  const more = isWinner && menuOf('⋯', {class: edits(id).class, 'aria-label': 'More actions', title: 'More actions'},
    el('a', {class: 'edits', href: link(store, 'document', {new: '1', like: id})}, 'Use as template'))
  const actions = el('div', {class: 'row actions'}, isWinner && edit, menuOf('Copy', {},
    copyButton(() => whole, 'JSON'), copyButton(() => id, 'Id'), !/^\.{1,2}$/.test(id) && copyButton(() => `curl ${shellQuoted(location.origin + path(store, id))}`, 'curl command')),
  more, isWinner && button('Delete', () => remove(place, id, shown), {class: `danger ${edits(id).class}`}))
  return {section, actions, more}
}

function checkLength(text) {
  if (text.length > longestEdit) throw new Error('The document is too long to be edited here; use cdtquery get and cdtquery put.')
}

/** Adds links to the documents that are nearest to one by a field that has an index of vectors or places. */
async function showNearby({store, signal}, doc, menu) {
  const {indexes} = await get(path(store, '_index'), signal)
  const names = {vector: 'More like this', place: 'Close by'}
  const fields = new Map()
  for (const {type, def} of indexes) {
    const [field] = Object.keys(def.fields.at(-1) ?? {})
    if (names[type] && field) fields.set(field, type)
  }
  for (const [field, type] of fields) {
    const value = valueAt(doc, field)
    const numbers = value instanceof Map && value.get('type') === 'Point' ? value.get('coordinates') : value
    if (!Array.isArray(numbers) || !numbers.length || !numbers.every(isNumber)) continue
    const near = new Map(type === 'vector' ? [['$vector', numbers]] : [['$geometry', new Map([['type', 'Point'], ['coordinates', numbers]])]])
    const selector = line(new Map([[field, new Map([['$near', near]])], ['_id', new Map([['$ne', doc.get('_id')]])]]))
    const isOnly = [...fields.values()].filter(other => other === type).length === 1
    menu.lastChild.append(el('a', {href: link(store, 'documents', {selector})}, names[type], !isOnly && [' (', text(field, 40), ')']))
    menu.classList.remove('edits', 'admins')
  }
}

function form(plain, action, cancel) {
  const field = editor({label: 'The document as JSON', value: pretty(plain), rows: 8})
  const begun = field.value
  const submit = el('button', {}, 'Save')
  const leave = () => {
    if ('unsaved' in element.dataset && !confirm('Leave without saving your text?')) return
    delete element.dataset.unsaved
    cancel()
  }
  const element = el('form', {
    class: 'editing',
    oninput: () => element.toggleAttribute('data-unsaved', field.value !== begun),
    onkeydown: event => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      event.preventDefault()
      event.stopPropagation()
      leave()
    },
    onsubmit: sends(submit, async () => {
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
    }),
  }, field.element, el('p', {class: 'row actions'}, submit, button('Cancel', leave)))
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

/** A random UUID. Without TLS, a page of another machine has no `crypto.randomUUID`. */
function randomId() {
  const digit = () => (crypto.getRandomValues(new Uint8Array(1))[0] % 16).toString(16)
  return '????????-????-4???-8???-????????????'.replace(/\?/g, digit)
}

/** @param like The id of a document whose fields the new one begins with. */
async function showNew(place, like) {
  const {main, store, signal} = place
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
    delete editing.dataset.unsaved
    place.leave('Saved.', link(store, 'document', {id: row.id}))
  }, () => place.leave('', like === null ? undefined : link(store, 'document', {id: like})))
  fill(main, el('div', {class: 'document'}, place.heading('Add a document'),
    like !== null && el('p', {}, template ? ['With the fields of ', text(like, 200), ', without its attachments.'] : ['There is no document ', text(like, 200), '.']), editing))
  main.querySelector('textarea').focus()
}

/** @param editing The form of the text, to which a merge can be cancelled. */
async function saveEdited(place, section, id, shown, doc, others, editing) {
  const {store} = place
  let row
  try {
    [row] = await save(store, line(doc))
  } catch (error) {
    if (error.status !== 409) throw error
    return resolve(place, section, id, shown, doc, editing)
  }
  await copyAttachments(store, id, row.rev, others)
  // Another view may be shown by now.
  if (!section.isConnected) return say('Saved.')
  place.again('Saved.')
}

/** Somebody else has saved the document since it was read: shows both, field by field. */
async function resolve(place, section, id, shown, mine, editing) {
  const theirs = await winner(place.store, id)
  if (!section.isConnected) throw new Error('The document was changed meanwhile, and your text is not saved.')
  if (!theirs) throw new Error('The document was deleted meanwhile. Add it again if you want to keep your text.')
  const versions = [{title: 'Yours', value: mine, rev: shown.get('_rev')},
    {title: `Theirs, ${shortRevision(theirs.get('_rev'))}`, note: arrivalOf(theirs), value: theirs, rev: theirs.get('_rev')}]
  const choices = merge(versions, shown, {current: 1, save: async (merged, attachments) => {
    const others = takeAttachments(merged, theirs, versions, attachments)
    merged.set('_id', id)
    merged.set('_rev', theirs.get('_rev'))
    await saveEdited(place, section, id, theirs, merged, others, editing)
  }, cancel: () => {
    fill(section, editing)
    editing.dataset.unsaved = ''
    editing.querySelector('textarea').focus()
  }})
  choices.dataset.unsaved = ''
  const contested = contestedKeys([mine, theirs], shown)
  fill(section, el('h2', {}, 'Two versions'), el('p', {}, 'The document was changed meanwhile. Choose for each field what to keep; ',
    'what only one of you has changed is chosen already. ', contested.size > 0 && 'Rows with a mark were changed by both to different values.'), choices)
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
async function mergeLeaves(place, best, living) {
  const {main, store} = place
  const id = best.get('_id')
  const others = living.filter(leaf => leaf.get('_rev') !== best.get('_rev'))
  const versions = [best, ...others].map(leaf => {
    const rev = leaf.get('_rev')
    return {title: leaf === best ? `Winner, ${shortRevision(rev)}` : shortRevision(rev), note: arrivalOf(leaf), value: leaf, rev}
  })
  const ancestor = commonAncestor(living)
  // Revisions that were created apart have an empty ancestor.
  const areApart = !ancestor && living.every(leaf => historyOf(leaf).at(-1).startsWith('1-'))
  const base = ancestor ? (await revisions(store, id, [ancestor]))[0] ?? null : areApart ? new Map() : null
  const choices = merge(versions, base, {save: async (merged, attachments) => {
    const copies = takeAttachments(merged, best, versions, attachments)
    merged.set('_id', id)
    merged.set('_rev', best.get('_rev'))
    // Revisions that are sent together are saved each for itself: nothing may be deleted before the merged one is there.
    const [row] = await save(store, line(merged)).catch(
      inConflict('The document was changed meanwhile, and nothing is merged. Load the page again to merge what is there now.'))
    await copyAttachments(store, id, row.rev, copies)
    const deletions = others.map(leaf => line(new Map([['_id', id], ['_rev', leaf.get('_rev')], ['_deleted', true]])))
    const failure = await save(store, ...deletions).then(() => null, error => error)
    const reason = failure?.status === 409 ? 'somebody else has changed it meanwhile.' : failure?.message
    const result = failure ? `The merged document is saved, but another revision is not deleted: ${reason}` : 'The conflict is resolved.'
    if (!choices.isConnected) return say(result)
    place.again(result)
  }, cancel: () => place.again()})
  fill(main, el('div', {class: 'document'}, place.heading(text(id, 200)),
    el('p', {}, 'Choose for each field what to keep. The merged document follows the winner, and the other revisions are deleted. ',
      areApart ? 'They were created apart: what only one of them has is chosen already.'
      : !base ? 'The revision that they come from is not stored any more, so the winner is chosen.'
      : contestedKeys(versions.map(version => version.value), base).size
      ? 'What only one of them has changed since their common ancestor is chosen already. Rows with a mark were changed to different values.'
      : 'Nothing was changed to different values since their common ancestor: each change is chosen already.'), choices))
}

/** In a conflict, the next winner takes the place of the revision that is deleted. */
async function remove(place, id, shown) {
  const {store} = place
  const current = livingOf(await revisions(store, id)).length
  const isSure = current > 1 ? await answered('Delete this revision of the document?', 'Delete', el('p', {}, text(id, 200)),
    el('p', {}, `The document has a conflict of ${count(current, 'revision')}: if you delete this one, another one becomes the document. `,
      'To delete it as a whole, cancel and merge them first.'))
    : await confirmed('Delete the document?', id)
  if (!isSure) return
  await save(store, line(new Map([['_id', id], ['_rev', shown.get('_rev')], ['_deleted', true]]))).catch(
    inConflict('The document was changed meanwhile, and is not deleted. Load the page again to see it.'))
  const next = await winner(store, id)
  if (!next) return place.leave('Deleted.')
  const [deleted, now] = [shown, next].map(doc => shortRevision(doc.get('_rev')))
  // The address may have the revision that is deleted.
  if (!place.inPanel) location.hash = link(store, 'document', {id})
  place.again(`Deleted ${deleted}. The document is now ${now}, which was in conflict with it.`)
}
