# frozen_string_literal: true

require "minitest/autorun"
require "club/member"
require "club/member_list"

class MemberListTest < Minitest::Test
  def setup
    @list = Club::MemberList.new(
      [
        Club::Member.new(id: 1, name: "Weiss", mail: "w@club.example", joined_on: Date.new(2020, 5, 1)),
        Club::Member.new(id: 2, name: "Blum", mail: "b@club.example", joined_on: Date.new(2021, 5, 1))
      ]
    )
  end

  def names(**params)
    @list.rows(params).map(&:first)
  end

  def test_orders
    assert_equal %w[Blum Weiss], names
    assert_equal %w[Weiss Blum], names(sort: "joined_on")
    assert_equal %w[Blum Weiss], names(sort: "joined_on", descending: "true")
    assert_equal %w[Weiss Blum], names(sort: "joined_on", descending: "false")
    assert_equal %w[Weiss Blum], names(descending: "true")
  end

  def test_unknown_columns_are_refused
    assert_raises(Club::MemberList::UnknownColumn) { names(sort: "instance_eval") }
    assert_raises(Club::MemberList::UnknownColumn) { names(columns: %w[name freeze]) }
  end
end
