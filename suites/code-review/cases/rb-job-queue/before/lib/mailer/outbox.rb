# frozen_string_literal: true

module Mailer
  # Mails that wait to be sent, in the order in which they were written.
  class Outbox
    def initialize
      @messages = Thread::Queue.new
    end

    def push(message)
      @messages << message
    end

    # The next message; waits for one.
    def pop
      @messages.pop
    end
  end
end
