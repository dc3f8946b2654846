# frozen_string_literal: true

require "minitest/autorun"
require "mailer/message"
require "mailer/outbox"
require "mailer/sender"

class OutboxTest < Minitest::Test
  def test_urgent_messages_overtake
    outbox = Mailer::Outbox.new
    outbox.push("a")
    outbox.push("b", urgent: true)
    assert_equal %w[b a], [outbox.pop, outbox.pop]
  end

  def test_what_is_left_is_sent_before_the_end
    sent = Thread::Queue.new
    transport = Object.new
    transport.define_singleton_method(:deliver) { |message| sent << message }
    outbox = Mailer::Outbox.new
    3.times { |n| outbox.push(n) }
    sender = Mailer::Sender.new(outbox, transport)
    sender.start
    sender.stop
    assert_equal 3, sent.size
  end
end
