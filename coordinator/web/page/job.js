// Shows one job: how far and how fast it is, what happened to it, who trains it, and what it costs.
import { LossFigure, SpeedFigure } from "./charts.js";
import { el, Facts, setText } from "./dom.js";
import { EventFeed } from "./events.js";
import { badge, duration, fixed, isOver, left, number, plain, short, when } from "./format.js";
import { Checkpoints, JobCost, Members, Progress } from "./job_parts.js";
import { Timeline } from "./timeline.js";

const section = (title, ...parts) => el("section", { "aria-label": title }, el("h2", {}, title), ...parts);

class Job {
  constructor(params, heading) {
    this.asked = params.name || "";
    this.heading = heading;
    // Events are requested by the name of the job. `feed` is null until the first answer, as the address may have only
    // the job's uid.
    this.feed = null;
    this.progress = new Progress();
    this.facts = new Facts();
    this.loss = new LossFigure();
    this.speed = new SpeedFigure();
    this.members = new Members();
    this.timeline = new Timeline();
    this.checkpoints = new Checkpoints();
    this.cost = new JobCost();
    this.spec = el("pre", { tabindex: "0", "aria-label": "Spec" });
    this.element = el("article", {}, this.progress.element, this.facts.element,
      el("div", { class: "figures" }, this.loss.element, this.speed.element),
      section("Time line", this.timeline.element), section("Workers", this.members.element),
      section("Checkpoints", this.checkpoints.element), section("Cost and savings", this.cost.element),
      el("details", {}, el("summary", {}, "The job as it was submitted, with every default"), this.spec));
  }

  questions() {
    const about = `job?${new URLSearchParams({ name: this.asked })}`;
    return this.feed ? [about, this.feed.ask()] : [about];
  }

  show([answer, events], now) {
    const { job, says, savings, speed } = answer;
    const status = job.status;
    if (!this.feed) {
      // From the first answer on, the page asks by the job's uid, because a later job with the same name is another
      // job.
      this.asked = job.uid;
      this.feed = new EventFeed(job.name);
      document.dispatchEvent(new Event("asknow"));
    } else {
      this.feed.take(events);
    }
    const name = plain(job.name);
    setText(this.heading, name);
    document.title = `${name} - Rekindle`;
    this.showState(status, now);
    this.loss.show(status);
    this.speed.show(speed, status);
    this.timeline.show(status, this.feed.events, now);
    this.members.show(status.members || []);
    this.checkpoints.show(status, this.feed.events, now);
    this.cost.show(status.cost || {}, says, savings);
    setText(this.spec, plain(JSON.stringify(status.resolved_spec || {}, null, 1)));
  }

  showState(status, now) {
    const spec = status.resolved_spec || {};
    const steps = number(spec.training?.steps), step = number(status.step);
    const over = isOver(status.state);
    const words = [`step ${fixed(step, 0)} of ${fixed(steps, 0)}`];
    if (left(status) !== null) words.push(`about ${duration(left(status))} left`);
    this.progress.show(badge(status.state), plain(status.reason || status.last_event), step, steps, words.join(", "));
    const end = over ? number(status.finished_at) || now : now;
    this.facts.show([
      ["Loss", step ? fixed(status.loss, 4) : ""],
      ["Validation loss", status.validation_loss ? fixed(status.validation_loss, 4) : ""],
      ["Tokens a second", !over && number(status.tokens_per_second) ? short(status.tokens_per_second) : ""],
      ["A step", number(status.step_seconds) ? `${fixed(status.step_seconds, 3)} s` : ""],
      ["Workers", `${fixed((status.members || []).length, 0)}, ${fixed(spec.workers?.min, 0)} to ${fixed(spec.workers?.max, 0)} wanted`],
      ["Generation", fixed(status.generation, 0)],
      ["Interruptions", fixed(status.interruptions, 0)],
      ["Steps done again", fixed(status.steps_redone, 0)],
      ["Micro-batches done again", fixed(status.micro_batches_redone, 0)],
      ["Submitted", { text: when(status.submitted_at), title: `${duration(end - number(status.submitted_at))} ${over ? "until its end" : "ago"}` }],
      ["Ended", over ? when(status.finished_at) : ""],
      ["Team", plain(spec.team)],
      ["Priority", fixed(spec.priority, 0)],
      ["Model", plain(spec.model?.kind)],
      ["Last", status.reason && status.reason !== status.last_event ? plain(status.last_event) : ""],
      ["State digest", plain(status.state_digest)]]);
  }
}

export const job = { title: "Job", every: 1000, make: (params, heading) => new Job(params, heading) };
