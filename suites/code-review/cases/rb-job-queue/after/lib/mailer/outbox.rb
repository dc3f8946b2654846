# frozen_string_literal: true

module Mailer
  # Mails that wait to be sent: urgent ones first, others in the order in which they were written.
  class Outbox
    class Closed < StandardError; end

    def initialize
      @mutex = Mutex.new
      @ready = ConditionVariable.new
      @urgent = []
      @normal = []
      @closed = false
    end

    def push(message, urgent: false)
      @mutex.synchronize do
        raise Closed, "the outbox is closed" if @closed

        (urgent ? @urgent : @normal) << message
        @ready.signal
      end
    end

    # The next message; waits for one. Answers nil once the outbox is closed and empty.
    def pop
      @mutex.synchronize do
        @ready.wait(@mutex) if empty? && !@closed
        @urgent.shift || @normal.shift
      end
    end

    # Takes no more messages; those that wait are still given out.
    def close
      @mutex.synchronize do
        @closed = true
        @ready.broadcast
      end
    end

    private

    def empty?
      @urgent.empty? && @normal.empty?
    end
  end
end
