# frozen_string_literal: true

# A thread that is woken after another one took the message goes on waiting. The order that decides is enforced: the
# woken thread gets the lock only after the message is gone.
$LOAD_PATH.unshift(File.join(__dir__, "lib"))
require "mailer/outbox"

class LateWake < ConditionVariable
  attr_writer :before_return

  def wait(mutex, timeout = nil)
    super
    thief, @before_return = @before_return, nil
    thief&.call
    self
  end
end

outbox = Mailer::Outbox.new
ready = LateWake.new
outbox.instance_variable_set(:@ready, ready)
normal = outbox.instance_variable_get(:@normal)
ready.before_return = -> { normal.shift }

results = Thread::Queue.new
sleeper = Thread.new { results << outbox.pop.inspect }
Thread.pass until sleeper.status == "sleep"
outbox.push("taken by another thread")
Thread.pass until results.size.positive? || (sleeper.status == "sleep" && normal.empty?)
outbox.push("for the sleeper") if results.empty?
first = results.pop
puts "pop answered #{first} while the outbox was open"
exit(first == "\"for the sleeper\"" ? 0 : 1)
